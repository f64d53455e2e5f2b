//! Bringing the members of an object into order after they were written.

use std::cmp::Ordering;

use super::error::{CanonicalError, CanonicalReason};
use super::text::decode;

/// One member that was written to the output: `"name":value`.
#[derive(Clone, Copy)]
pub(super) struct Member {
    /// The first eight bytes of the decoded name; almost always enough to tell two apart.
    key: u64,
    start: usize,
    /// The end of the name's content; it begins after the quote at `start`.
    name_end: usize,
    end: usize,
    /// Where the name stands in the text that was read, for the error.
    source: usize,
}

/// The members of all objects that are open; each object owns the tail from its beginning on.
#[derive(Default)]
pub(super) struct Members {
    open: Vec<Member>,
    scratch: Vec<u8>,
}

/// The beginning of one object's members.
#[derive(Clone, Copy)]
pub(super) struct Object(usize);

impl Members {
    pub(super) fn begin(&self) -> Object {
        Object(self.open.len())
    }

    /// A member whose name was just written.
    #[inline]
    pub(super) fn named(&self, name: &str, start: usize, name_end: usize, source: usize) -> Member {
        let mut first = [0; 8];
        match name.as_bytes().first_chunk::<8>() {
            Some(chunk) => first = *chunk,
            None => first[..name.len()].copy_from_slice(name.as_bytes()),
        }
        Member { key: u64::from_be_bytes(first), start, name_end, end: start, source }
    }

    /// Adds a member whose value ends here.
    #[inline]
    pub(super) fn push(&mut self, member: Member, end: usize) {
        self.open.push(Member { end, ..member });
    }

    /// Whether the keys alone show that the object is in order.
    #[inline]
    pub(super) fn in_order(&self, object: Object) -> bool {
        self.open[object.0..].is_sorted_by(|a, b| a.key < b.key)
    }

    /// Closes an object whose members are in order.
    #[inline]
    pub(super) fn close(&mut self, object: Object) {
        self.open.truncate(object.0);
    }

    /// Brings the members of an object, which end the output, into order, and closes it.
    pub(super) fn sort(&mut self, object: Object, out: &mut [u8]) -> Result<(), CanonicalError> {
        let name = |member: &Member| &out[member.start + 1..member.name_end];
        let compare =
            |a: &Member, b: &Member| a.key.cmp(&b.key).then_with(|| compare_names(name(a), name(b)));
        let members = &mut self.open[object.0..];
        if !members.is_sorted_by(|a, b| compare(a, b).is_lt()) {
            let begin = members[0].start;
            // Stable, so that of two equal names the later one is reported.
            members.sort_by(compare);
            let twice = members.windows(2).find(|pair| compare(&pair[0], &pair[1]).is_eq());
            if let Some(pair) = twice {
                return Err(CanonicalError::new(pair[1].source, CanonicalReason::DuplicateMember));
            }
            rearrange(members, begin, out, &mut self.scratch);
        }
        self.close(object);
        Ok(())
    }
}

/// Lays the members out in their order, from `begin` to the end of the output, with commas between.
/// The largest is moved within the output and the rest is set aside, so that a large object needs
/// no second copy of itself.
fn rearrange(members: &[Member], begin: usize, out: &mut [u8], scratch: &mut Vec<u8>) {
    let largest = members.iter().enumerate().max_by_key(|(_, member)| member.end - member.start);
    let Some((position, largest)) = largest else { return };
    scratch.clear();
    for member in &members[..position] {
        scratch.extend_from_slice(&out[member.start..member.end]);
        scratch.push(b',');
    }
    let before = scratch.len();
    for member in &members[position + 1..] {
        scratch.push(b',');
        scratch.extend_from_slice(&out[member.start..member.end]);
    }
    out.copy_within(largest.start..largest.end, begin + before);
    out[begin..begin + before].copy_from_slice(&scratch[..before]);
    let after = begin + before + (largest.end - largest.start);
    out[after..].copy_from_slice(&scratch[before..]);
}

/// Compares two names, written with the fewest escapes, by the bytes of what they mean.
fn compare_names(a: &[u8], b: &[u8]) -> Ordering {
    if !a.contains(&b'\\') && !b.contains(&b'\\') {
        return a.cmp(b);
    }
    let decoded = |name: &[u8]| -> String { decode(&String::from_utf8_lossy(name)) };
    decoded(a).cmp(&decoded(b))
}
