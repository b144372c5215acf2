//! Percentiles of a histogram by powers of two nanoseconds.

/// A time, in nanoseconds, that `share` of those counted are below: the upper bound of the bucket in which the longest
/// of these lies. `None` if nothing was counted.
pub(crate) fn percentile(buckets: &[u64], share: f64) -> Option<u64> {
    let count = buckets.iter().fold(0_u64, |sum, bucket| sum.saturating_add(*bucket));
    let wanted = ((count as f64 * share).ceil() as u64).clamp(1, count.max(1));
    let mut so_far = 0_u64;
    let bucket = buckets.iter().position(|bucket| {
        so_far = so_far.saturating_add(*bucket);
        so_far >= wanted
    })?;
    Some(u32::try_from(bucket + 1).ok().and_then(|bits| 2_u64.checked_pow(bits)).unwrap_or(u64::MAX))
}

/// What was counted since.
pub(super) fn since(before: &[u64], now: &[u64]) -> Vec<u64> {
    // Empty buckets at the end are left out.
    let before = before.iter().copied().chain(std::iter::repeat(0));
    now.iter().zip(before).map(|(now, before)| now.saturating_sub(before)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_the_bound_of_its_bucket() {
        assert_eq!(percentile(&[], 0.5), None);
        assert_eq!(percentile(&[0, 0], 0.5), None);
        let buckets = [0, 90, 9, 0, 1];
        for (share, nanos) in [(0.0, 4), (0.5, 4), (0.9, 4), (0.91, 8), (0.99, 8), (0.999, 32), (1.0, 32)] {
            assert_eq!(percentile(&buckets, share), Some(nanos), "{share}");
        }
        let mut last = vec![0; 64];
        last[63] = u64::MAX;
        assert_eq!(percentile(&last, 1.0), Some(u64::MAX));
        assert_eq!(percentile(&[1; 1000], 1.0), Some(u64::MAX), "more buckets than there are");
    }

    #[test]
    fn a_histogram_grows() {
        assert_eq!(since(&[1, 2], &[3, 2, 7]), [2, 0, 7]);
        assert_eq!(since(&[1, 2, 3], &[1]), [0]);
    }
}
