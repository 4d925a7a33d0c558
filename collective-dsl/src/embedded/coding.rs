//! Numbers and texts as bytes: LEB128, as in protocol buffers.

use thiserror::Error;

/// A packed schedule cannot be read. One that `#[collective]` or a build script has embedded always can.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the packed schedule is damaged at byte {at}: {what}")]
pub struct UnpackError {
    pub(super) at: usize,
    pub(super) what: String,
}

#[derive(Debug, Default)]
pub(super) struct Writer {
    pub(super) bytes: Vec<u8>,
}

impl Writer {
    pub(super) fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// Small numbers of either sign take few bytes.
    pub(super) fn signed(&mut self, value: i64) {
        self.number(((value << 1) ^ (value >> 63)) as u64);
    }

    pub(super) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }
}

#[derive(Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(super) fn error(&self, what: impl Into<String>) -> UnpackError {
        UnpackError { at: self.at, what: what.into() }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    pub(super) fn byte(&mut self) -> Result<u8, UnpackError> {
        let byte = *self.bytes.get(self.at).ok_or_else(|| self.error("it ends here"))?;
        self.at += 1;
        Ok(byte)
    }

    pub(super) fn number(&mut self) -> Result<u64, UnpackError> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.error("a number has more than ten bytes"))
    }

    pub(super) fn signed(&mut self) -> Result<i64, UnpackError> {
        let value = self.number()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    pub(super) fn u32(&mut self) -> Result<u32, UnpackError> {
        let value = self.number()?;
        u32::try_from(value).map_err(|_| self.error(format!("{value} is more than 32 bits hold")))
    }

    /// A number that is an index or a length.
    pub(super) fn at_most(&mut self, most: usize) -> Result<usize, UnpackError> {
        let value = self.number()?;
        match usize::try_from(value) {
            Ok(value) if value <= most => Ok(value),
            _ => Err(self.error(format!("expected a number up to {most}, found {value}"))),
        }
    }

    /// The length of a list whose entries take at least a byte each.
    pub(super) fn length(&mut self) -> Result<usize, UnpackError> {
        self.at_most(self.bytes.len() - self.at)
    }

    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], UnpackError> {
        let rest = &self.bytes[self.at..];
        let taken = rest.get(..length).ok_or_else(|| self.error("it ends here"))?;
        self.at += length;
        Ok(taken)
    }

    pub(super) fn text(&mut self) -> Result<String, UnpackError> {
        let length = self.length()?;
        let bytes = self.take(length)?;
        String::from_utf8(bytes.to_vec()).map_err(|_| self.error("expected a text"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_as_many_bytes_as_protocol_buffers_say() {
        // The examples of the protocol buffer documentation.
        let mut writer = Writer::default();
        writer.number(150);
        assert_eq!(writer.bytes, [0x96, 0x01]);
        let mut writer = Writer::default();
        [0, -1, 1, -2].into_iter().for_each(|value| writer.signed(value));
        assert_eq!(writer.bytes, [0, 1, 2, 3]);
    }

    #[test]
    fn what_is_written_is_read() {
        let numbers = [0, 1, 127, 128, u64::from(u32::MAX), u64::MAX];
        let signed = [0, -1, 63, -64, 64, i64::MAX, i64::MIN];
        let mut writer = Writer::default();
        numbers.into_iter().for_each(|value| writer.number(value));
        signed.into_iter().for_each(|value| writer.signed(value));
        writer.text("straße");
        let mut reader = Reader::new(&writer.bytes);
        numbers.into_iter().for_each(|value| assert_eq!(reader.number(), Ok(value)));
        signed.into_iter().for_each(|value| assert_eq!(reader.signed(), Ok(value)));
        assert_eq!(reader.text().as_deref(), Ok("straße"));
        assert!(reader.is_at_end());
        assert!(reader.byte().is_err());
    }

    #[test]
    fn lengths_are_bounded_by_what_is_there() {
        assert!(Reader::new(&[5, 1, 2]).text().is_err());
        assert!(Reader::new(&[0xff; 11]).number().is_err());
        assert!(Reader::new(&[0xff, 0xff, 0xff, 0xff, 0x1f]).u32().is_err());
    }
}
