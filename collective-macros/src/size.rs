//! Sizes as people write them.

/// The bytes of a text such as `1MiB`, `64KB` or `4096`. The units with an `i` are powers of 1,024, those
/// without powers of 1,000.
pub(crate) fn parse_bytes(text: &str) -> Option<u64> {
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let unit: u64 = match unit.trim() {
        "" | "B" => 1,
        "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::parse_bytes;

    #[test]
    fn sizes_have_binary_and_decimal_units() {
        assert_eq!(parse_bytes("1MiB"), Some(1 << 20));
        assert_eq!(parse_bytes("64 KB"), Some(64_000));
        assert_eq!(parse_bytes("4096"), Some(4096));
        assert_eq!(parse_bytes("1MiBs"), None);
        assert_eq!(parse_bytes("MiB"), None);
        assert_eq!(parse_bytes("99999999999GiB"), None);
    }
}
