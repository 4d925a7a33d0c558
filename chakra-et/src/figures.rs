//! The attributes that have a meaning for the graph, and what an operation makes of them, wherever they are
//! stored.

use crate::attr::AttrError;
use crate::graph::{Op, Origin, SourceRef, StepRef};
use crate::proto::NodeType;

/// An attribute that holds a non-negative integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figure {
    CommDst,
    CommSrc,
    CommTag,
    CommSize,
    CommType,
    NumOps,
    TensorSize,
    MsgChunkCnt,
    TotalChunkCnt,
    TbId,
    LocalTimeStep,
    SourceLine,
    SourceFile,
}

impl Figure {
    pub(crate) const COUNT: usize = 13;

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::CommDst => "comm_dst",
            Self::CommSrc => "comm_src",
            Self::CommTag => "comm_tag",
            Self::CommSize => "comm_size",
            Self::CommType => "comm_type",
            Self::NumOps => "num_ops",
            Self::TensorSize => "tensor_size",
            Self::MsgChunkCnt => "msg_chunk_cnt",
            Self::TotalChunkCnt => "total_chunk_cnt",
            Self::TbId => "tb_id",
            Self::LocalTimeStep => "local_time_step",
            Self::SourceLine => "source_line",
            Self::SourceFile => "source_file",
        }
    }

    #[inline]
    pub(crate) fn from_name(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"comm_dst" => Self::CommDst,
            b"comm_src" => Self::CommSrc,
            b"comm_tag" => Self::CommTag,
            b"comm_size" => Self::CommSize,
            b"comm_type" => Self::CommType,
            b"num_ops" => Self::NumOps,
            b"tensor_size" => Self::TensorSize,
            b"msg_chunk_cnt" => Self::MsgChunkCnt,
            b"total_chunk_cnt" => Self::TotalChunkCnt,
            b"tb_id" => Self::TbId,
            b"local_time_step" => Self::LocalTimeStep,
            b"source_line" => Self::SourceLine,
            b"source_file" => Self::SourceFile,
            _ => return None,
        })
    }
}

/// The attributes of a node.
pub(crate) trait Figures {
    /// Why there is no answer.
    type Error: From<AttrError>;

    /// The value, or `None` if there is no such attribute.
    fn find(&self, figure: Figure) -> Result<Option<u64>, Self::Error>;

    /// As `find`, below 2^32.
    fn find_u32(&self, figure: Figure) -> Result<Option<u32>, Self::Error>;

    /// Whether there is such an attribute, of whatever kind.
    fn has(&self, figure: Figure) -> bool;

    fn need(&self, figure: Figure) -> Result<u64, Self::Error> {
        let missing = || AttrError::Missing { name: figure.name(), expected: crate::attr::INTEGER }.into();
        self.find(figure)?.ok_or_else(missing)
    }

    fn need_u32(&self, figure: Figure) -> Result<u32, Self::Error> {
        let missing = || AttrError::Missing { name: figure.name(), expected: crate::attr::U32 }.into();
        self.find_u32(figure)?.ok_or_else(missing)
    }
}

/// What a node does.
#[inline]
pub(crate) fn op<F: Figures + ?Sized>(
    node_type: i32,
    micros: u64,
    figures: &F,
    collective_size: Option<u64>,
) -> Result<Op, F::Error> {
    Ok(match NodeType::try_from(node_type) {
        Ok(NodeType::CommSendNode) => Op::Send {
            dst: figures.need_u32(Figure::CommDst)?,
            tag: figures.need_u32(Figure::CommTag)?,
            bytes: message_size(figures, collective_size)?,
        },
        Ok(NodeType::CommRecvNode) => Op::Recv {
            src: figures.need_u32(Figure::CommSrc)?,
            tag: figures.need_u32(Figure::CommTag)?,
            bytes: message_size(figures, collective_size)?,
        },
        Ok(NodeType::CommCollNode) => {
            Op::Coll { kind: figures.need_u32(Figure::CommType)?, bytes: figures.need(Figure::CommSize)? }
        }
        Ok(NodeType::CompNode) => Op::Comp {
            micros,
            ops: figures.find(Figure::NumOps)?.unwrap_or(0),
            bytes: figures.find(Figure::TensorSize)?.unwrap_or(0),
        },
        Ok(NodeType::MemLoadNode) => Op::Mem { store: false, bytes: figures.need(Figure::TensorSize)? },
        Ok(NodeType::MemStoreNode) => Op::Mem { store: true, bytes: figures.need(Figure::TensorSize)? },
        Ok(NodeType::InvalidNode | NodeType::MetadataNode) | Err(_) => Op::Other { node_type },
    })
}

/// The size of a message: the literal one, or the one that follows from its chunks.
pub(crate) fn message_size<F: Figures + ?Sized>(
    figures: &F,
    collective_size: Option<u64>,
) -> Result<u64, F::Error> {
    if let Some(literal) = figures.find(Figure::CommSize)? {
        return Ok(literal);
    }
    let missing = |missing| AttrError::NoSize { missing };
    let need = |figure: Figure| -> Result<u64, F::Error> {
        figures.find(figure)?.ok_or_else(|| missing(figure.name()).into())
    };
    let chunks = need(Figure::MsgChunkCnt)?;
    let total = need(Figure::TotalChunkCnt)?;
    let collective = collective_size.ok_or_else(|| missing("collective_size"))?;
    // Chunk counts are written only where all chunks are equal, so a remainder is a mistake somewhere.
    let chunk = collective.checked_div(total).filter(|chunk| chunk * total == collective);
    let size = chunk.and_then(|chunk| chunk.checked_mul(chunks));
    Ok(size.ok_or(AttrError::UnevenSize { collective, total, chunks })?)
}

/// Where a node comes from, as far as it says so; what does not fit counts as absent.
#[inline]
pub(crate) fn origin<F: Figures + ?Sized>(figures: &F) -> Origin {
    Origin { step: step(figures), source: source(figures) }
}

fn step<F: Figures + ?Sized>(figures: &F) -> Option<StepRef> {
    Some(StepRef {
        thread_block: lenient(figures, Figure::TbId)?,
        step: lenient(figures, Figure::LocalTimeStep)?,
    })
}

fn source<F: Figures + ?Sized>(figures: &F) -> Option<SourceRef> {
    let line = lenient(figures, Figure::SourceLine).filter(|&line| line > 0)?;
    let file = if figures.has(Figure::SourceFile) { lenient(figures, Figure::SourceFile)? } else { 0 };
    Some(SourceRef { file: u16::try_from(file).ok()?, line })
}

fn lenient<F: Figures + ?Sized>(figures: &F, figure: Figure) -> Option<u32> {
    // Written as int32, so a larger value is not ours.
    figures.find_u32(figure).ok().flatten().filter(|&value| i32::try_from(value).is_ok())
}
