//! A number for each of some rows, such as every face's seat: packed as varints of differences of ids, and
//! unpacked once for all who ask.

/// Numbers by row, in the order of the rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct List {
    /// Rows that follow one another: the first of them, and where its number is. Most lists have one run.
    runs: Vec<(i64, usize)>,
    numbers: Vec<u32>,
}

impl List {
    /// Numbers by row, in any order.
    pub fn of<R: Copy + Ord + Into<i64>>(rows: &[R], numbers: impl Iterator<Item = u32>) -> Self {
        let mut list = Self::default();
        if rows.is_sorted() {
            rows.iter().zip(numbers).for_each(|(&row, number)| list.push(row.into(), number));
            return list;
        }
        let mut pairs: Vec<(R, u32)> = rows.iter().copied().zip(numbers).collect();
        pairs.sort_unstable();
        pairs.into_iter().for_each(|(row, number)| list.push(row.into(), number));
        list
    }

    /// Adds a number for a row that comes after all others.
    fn push(&mut self, row: i64, number: u32) {
        let follows = self.runs.last().is_some_and(|&(first, at)| {
            i64::try_from(self.numbers.len() - at).is_ok_and(|n| first.checked_add(n) == Some(row))
        });
        if !follows {
            self.runs.push((row, self.numbers.len()));
        }
        self.numbers.push(number);
    }

    /// As bytes.
    pub fn pack(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(4 * self.numbers.len());
        let mut last = 0i64;
        for (row, number) in self.pairs() {
            put(&mut out, (row - last) as u64);
            put(&mut out, u64::from(number));
            last = row;
        }
        out
    }

    /// What was packed; `None` for bytes that are nothing of the kind.
    pub fn unpack(bytes: &[u8]) -> Option<Self> {
        let (mut at, mut last) = (0, 0i64);
        let mut list = Self::default();
        // A pair takes two bytes at least.
        list.numbers.reserve(bytes.len() / 2);
        // The row that would go on the last run.
        let mut next = None;
        while at < bytes.len() {
            let (step, number) = (take(bytes, &mut at)?, take(bytes, &mut at)?);
            last = last.checked_add(i64::try_from(step).ok()?)?;
            if next != Some(last) {
                list.runs.push((last, list.numbers.len()));
            }
            next = last.checked_add(1);
            list.numbers.push(u32::try_from(number).ok()?);
        }
        list.numbers.shrink_to_fit();
        Some(list)
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether all numbers are below another.
    pub fn are_below(&self, bound: usize) -> bool {
        self.numbers.iter().all(|&number| (number as usize) < bound)
    }

    /// Rows and their numbers.
    pub fn pairs(&self) -> impl Iterator<Item = (i64, u32)> {
        let ends = self.runs.iter().skip(1).map(|run| run.1).chain([self.len()]);
        let of_run = |(&(first, begin), end): (&(i64, usize), usize)| {
            (0..).zip(&self.numbers[begin..end]).map(move |(k, &number)| (first + k, number))
        };
        self.runs.iter().zip(ends).flat_map(of_run)
    }

    /// The numbers of some rows, which mostly come in their order.
    pub fn of_rows<R: Copy + Into<i64>>(&self, rows: &[R]) -> Vec<Option<u32>> {
        if self.are_rows(rows) {
            return self.numbers.iter().copied().map(Some).collect();
        }
        let mut run = 0;
        let number = |row: i64| {
            let is_in = |run: usize| {
                self.runs.get(run).is_some_and(|&(first, _)| first <= row)
                    && self.runs.get(run + 1).is_none_or(|&(first, _)| row < first)
            };
            if !is_in(run) {
                run = self.runs.partition_point(|&(first, _)| first <= row).checked_sub(1)?;
            }
            let &(first, begin) = self.runs.get(run)?;
            let end = self.runs.get(run + 1).map_or(self.len(), |run| run.1);
            let at = begin.checked_add(usize::try_from(row.checked_sub(first)?).ok()?)?;
            self.numbers[..end].get(at).copied()
        };
        rows.iter().map(|&row| row.into()).map(number).collect()
    }

    /// The numbers, when they are of exactly these rows.
    pub fn of_exactly<R: Copy + Into<i64>>(self, rows: &[R]) -> Option<Vec<u32>> {
        if self.are_rows(rows) {
            return Some(self.numbers);
        }
        if self.len() == rows.len() { self.of_rows(rows).into_iter().collect() } else { None }
    }

    /// Whether these are the rows, in their order.
    fn are_rows<R: Copy + Into<i64>>(&self, rows: &[R]) -> bool {
        let ends = self.runs.iter().skip(1).map(|run| run.1).chain([self.len()]);
        let is_run = |(&(first, begin), end): (&(i64, usize), usize)| {
            (0..).zip(&rows[begin..end]).all(|(k, &row)| first + k == row.into())
        };
        self.len() == rows.len() && self.runs.iter().zip(ends).all(is_run)
    }

    /// The same without some rows.
    pub fn without(&self, is_kept: impl Fn(i64) -> bool) -> Self {
        let mut list = Self::default();
        self.pairs().filter(|pair| is_kept(pair.0)).for_each(|(row, number)| list.push(row, number));
        list
    }
}

fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn take(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_survive_packing_and_other_bytes_are_refused() {
        let rows = [1i64, 2, 3, 1_000_000_007, i64::MAX];
        let list = List::of(&rows, [0, 300, 7, u32::MAX, 5].into_iter());
        let bytes = list.pack();
        assert_eq!(List::unpack(&bytes), Some(list.clone()));
        assert_eq!(list.runs, [(1, 0), (1_000_000_007, 3), (i64::MAX, 4)]);
        assert_eq!(List::unpack(&bytes[..bytes.len() - 1]), None);
        assert_eq!(List::unpack(&[0xff; 12]), None);
        assert_eq!(List::unpack(&[]), Some(List::default()));
    }

    #[test]
    fn numbers_are_found_by_row_in_any_order() {
        let rows = [9i64, 3, 4, 5, 20];
        let list = List::of(&rows, [90, 30, 40, 50, 200].into_iter());
        assert_eq!(list.of_rows(&[3i64, 4, 5, 9, 20]), [30, 40, 50, 90, 200].map(Some));
        let found = list.of_rows(&[20i64, 1, 3, 6, 9, 21, 5, i64::MIN, i64::MAX]);
        assert_eq!(found, [Some(200), None, Some(30), None, Some(90), None, Some(50), None, None]);
        assert_eq!(list.clone().of_exactly(&rows), Some(vec![90, 30, 40, 50, 200]));
        assert_eq!(list.clone().of_exactly(&[3i64, 4, 5, 9, 20]), Some(vec![30, 40, 50, 90, 200]));
        assert_eq!(list.clone().of_exactly(&[3i64, 4, 5, 9]), None);
        assert_eq!(list.clone().of_exactly(&[3i64, 4, 5, 9, 21]), None);
        let without: Vec<(i64, u32)> = list.without(|row| row != 4).pairs().collect();
        assert_eq!(without, [(3, 30), (5, 50), (9, 90), (20, 200)]);
        assert!(list.are_below(201) && !list.are_below(200));
        assert_eq!(List::default().of_rows(&[1i64, 2]), [None, None]);
    }
}
