//! A number for each of some rows, such as every face's seat: packed as varints of differences of ids, or
//! flat, and as changes of another such list.

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

    /// As bytes that take more room and are read at once: how many runs, the first row and length of each,
    /// and numbers, all as wide as the largest needs.
    pub fn pack_flat(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64 + 2 * self.numbers.len());
        put(&mut out, self.runs.len() as u64);
        let mut last = 0;
        for (&(first, begin), end) in self.runs.iter().zip(self.ends()) {
            put(&mut out, (first - last) as u64);
            put(&mut out, (end - begin) as u64);
            last = first;
        }
        put_numbers(&mut out, &self.numbers);
        out
    }

    /// What was packed flat; `None` for bytes that are nothing of the kind.
    pub fn unpack_flat(bytes: &[u8]) -> Option<Self> {
        let (mut at, mut last, mut n) = (0, 0i64, 0usize);
        let mut list = Self::default();
        for _ in 0..take(bytes, &mut at)? {
            let (step, length) = (take(bytes, &mut at)?, take(bytes, &mut at)?);
            let first = last.checked_add(i64::try_from(step).ok()?)?;
            let is_after = list.runs.last().is_none_or(|&(before, begin)| {
                i64::try_from(n - begin).is_ok_and(|n| before.checked_add(n).is_some_and(|end| end < first))
            });
            // A run has a row, and a last one.
            let length = length.checked_sub(1)?;
            first.checked_add(i64::try_from(length).ok()?).filter(|_| is_after)?;
            list.runs.push((first, n));
            (last, n) = (first, n.checked_add(usize::try_from(length).ok()?)?.checked_add(1)?);
        }
        list.numbers = numbers_of(&bytes[at..])?;
        (list.len() == n).then_some(list)
    }

    /// How this differs from a base whose numbers are called `now_of` them: rows with one more than their
    /// number, or 0 where they are gone.
    pub fn since(&self, base: &Self, now_of: impl Fn(u32) -> Option<u32>) -> Self {
        let mut changes = Self::default();
        if self.has_rows_of(base) {
            let both = self.numbers.iter().zip(&base.numbers).enumerate();
            for (at, (&number, _)) in both.filter(|(_, (number, base))| now_of(**base) != Some(**number)) {
                changes.push(self.row_at(at), number.wrapping_add(1));
            }
            return changes;
        }
        let (mut mine, mut theirs) = (self.pairs().peekable(), base.pairs().peekable());
        loop {
            let row = match (mine.peek(), theirs.peek()) {
                (None, None) => return changes,
                (a, b) => a.into_iter().chain(b).map(|pair| pair.0).min().expect("one of them is there"),
            };
            let number = mine.next_if(|pair| pair.0 == row).map(|pair| pair.1);
            let before = theirs.next_if(|pair| pair.0 == row);
            if before.is_none() || before.and_then(|pair| now_of(pair.1)) != number || number.is_none() {
                changes.push(row, number.map_or(0, |number| number.wrapping_add(1)));
            }
        }
    }

    /// The list that differs so from this base, whose numbers are called `now_of` them.
    pub fn after(&self, changes: &Self, now_of: impl Fn(u32) -> u32) -> Self {
        let numbers = self.numbers.iter().map(|&number| now_of(number)).collect();
        let mut list = Self { runs: self.runs.clone(), numbers };
        let places: Option<Vec<usize>> =
            changes.pairs().map(|(row, number)| self.place_of(row).filter(|_| number > 0)).collect();
        if let Some(places) = places {
            places.iter().zip(&changes.numbers).for_each(|(&at, number)| list.numbers[at] = number - 1);
            return list;
        }
        let mut changed = Self::default();
        let mut changes = changes.pairs().peekable();
        for (row, number) in list.pairs() {
            while let Some((row, number)) = changes.next_if(|change| change.0 < row) {
                number.checked_sub(1).into_iter().for_each(|number| changed.push(row, number));
            }
            let now = changes.next_if(|change| change.0 == row).map_or(Some(number), |c| c.1.checked_sub(1));
            now.into_iter().for_each(|number| changed.push(row, number));
        }
        for (row, number) in changes {
            number.checked_sub(1).into_iter().for_each(|number| changed.push(row, number));
        }
        changed
    }

    /// What each number of a base is called in this list by most of the faces that have it, where that is one
    /// number; nothing is said of the others.
    pub fn called(&self, base: &Self, n_base: usize) -> Vec<Option<u32>> {
        // A vote per row; a candidate with more than half of them is left (Boyer and Moore).
        let mut votes: Vec<(u32, u32)> = vec![(0, 0); n_base];
        let mut vote = |was: u32, now: u32| {
            let (candidate, n) = &mut votes[was as usize];
            match *candidate == now {
                true => *n += 1,
                false if *n == 0 => (*candidate, *n) = (now, 1),
                false => *n -= 1,
            }
        };
        if self.has_rows_of(base) {
            base.numbers.iter().zip(&self.numbers).for_each(|(&was, &now)| vote(was, now));
        } else {
            let now = self.of_rows(&base.pairs().map(|pair| pair.0).collect::<Vec<i64>>());
            let both = base.numbers.iter().zip(now);
            both.filter_map(|(&was, now)| Some((was, now?))).for_each(|(was, now)| vote(was, now));
        }
        votes.into_iter().map(|(candidate, n)| (n > 0).then_some(candidate)).collect()
    }

    /// One more than the largest number.
    pub fn n_numbers(&self) -> usize {
        self.numbers.iter().max().map_or(0, |&largest| largest as usize + 1)
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
        let of_run = |(&(first, begin), end): (&(i64, usize), usize)| {
            (0..).zip(&self.numbers[begin..end]).map(move |(k, &number)| (first + k, number))
        };
        self.runs.iter().zip(self.ends()).flat_map(of_run)
    }

    /// Where the numbers of each run end.
    fn ends(&self) -> impl Iterator<Item = usize> {
        self.runs.iter().skip(1).map(|run| run.1).chain([self.len()])
    }

    /// Whether both have numbers for the same rows.
    fn has_rows_of(&self, other: &Self) -> bool {
        self.runs == other.runs && self.len() == other.len()
    }

    /// The row of a number.
    fn row_at(&self, place: usize) -> i64 {
        let (first, begin) = self.runs[self.runs.partition_point(|run| run.1 <= place) - 1];
        first + (place - begin) as i64
    }

    /// Where the number of a row is.
    fn place_of(&self, row: i64) -> Option<usize> {
        let run = self.runs.partition_point(|&(first, _)| first <= row).checked_sub(1)?;
        let &(first, begin) = self.runs.get(run)?;
        let end = self.runs.get(run + 1).map_or(self.len(), |run| run.1);
        let at = begin.checked_add(usize::try_from(row.checked_sub(first)?).ok()?)?;
        (at < end).then_some(at)
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
    pub fn are_rows<R: Copy + Into<i64>>(&self, rows: &[R]) -> bool {
        let is_run = |(&(first, begin), end): (&(i64, usize), usize)| {
            (0..).zip(&rows[begin..end]).all(|(k, &row)| first + k == row.into())
        };
        self.len() == rows.len() && self.runs.iter().zip(self.ends()).all(is_run)
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

/// Numbers after how many bytes each takes.
pub(crate) fn put_numbers(out: &mut Vec<u8>, numbers: &[u32]) {
    match numbers.iter().max().copied().unwrap_or(0) {
        0..=0xff => {
            out.push(1);
            out.extend(numbers.iter().map(|&number| number as u8));
        }
        0x100..=0xffff => {
            out.push(2);
            out.extend(numbers.iter().flat_map(|&number| (number as u16).to_le_bytes()));
        }
        _ => {
            out.push(4);
            out.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        }
    }
}

/// The numbers of all of some bytes.
pub(crate) fn numbers_of(bytes: &[u8]) -> Option<Vec<u32>> {
    let (&width, bytes) = bytes.split_first()?;
    let is_whole = bytes.len().is_multiple_of(usize::from(width.max(1)));
    match width {
        1 => Some(bytes.iter().copied().map(u32::from).collect()),
        2 if is_whole => {
            Some(bytes.as_chunks().0.iter().map(|bytes| u16::from_le_bytes(*bytes).into()).collect())
        }
        4 if is_whole => Some(bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()),
        _ => None,
    }
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

    #[test]
    fn flat_lists_are_read_as_they_were_and_other_bytes_are_refused() {
        for largest in [7, 300, u32::MAX] {
            let rows = [1i64, 2, 3, 1_000_000_007, i64::MAX];
            let list = List::of(&rows, [0, 5, 7, largest, 5].into_iter());
            let bytes = list.pack_flat();
            assert_eq!(List::unpack_flat(&bytes), Some(list));
            assert_eq!(List::unpack_flat(&bytes[..bytes.len() - 1]), None);
        }
        assert_eq!(List::unpack_flat(&List::default().pack_flat()), Some(List::default()));
        // Runs that overlap, a run of none, one beyond the last row, and bytes of another kind.
        for bytes in [&[2, 1, 2, 1, 1, 1, 0, 0, 0][..], &[1, 1, 0, 1], &[0xff; 12], &[], &[0], &[0, 3]] {
            assert_eq!(List::unpack_flat(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn changes_of_a_base_are_the_list_again_whoever_came_went_or_has_another_number() {
        let base = List::of(&[1i64, 2, 3, 4, 7, 8], [0, 0, 1, 1, 2, 2].into_iter());
        let lists = [
            List::of(&[1i64, 2, 3, 4, 7, 8], [2, 2, 0, 1, 3, 3].into_iter()),
            List::of(&[1i64, 2, 3, 4, 7, 8, 9], [1, 1, 0, 0, 0, 0, 2].into_iter()),
            List::of(&[2i64, 4, 5, 8], [0, 0, 1, 2].into_iter()),
            List::default(),
        ];
        for list in lists {
            let called = list.called(&base, 3);
            let changes = list.since(&base, |was| called[was as usize]);
            let again = base.after(&changes, |was| called[was as usize].unwrap_or(u32::MAX));
            assert_eq!(again, list);
            assert_eq!(List::unpack(&changes.pack()), Some(changes));
        }
        let called = List::of(&[1i64, 2, 3, 4, 7, 8], [5, 5, 5, 4, 6, 6].into_iter()).called(&base, 3);
        assert_eq!(called, [Some(5), None, Some(6)], "those who parted are called nothing");
    }
}
