//! A map that never holds more than its bound.
//!
//! Two generations: what is asked for moves to the young one; when that is full it becomes the old
//! one, and what was old is forgotten. So an entry lives at least until half as many others as fit
//! were wanted after it, at no cost but two hash maps.

use std::collections::HashMap;

#[derive(Debug)]
pub(super) struct Cache<V> {
    young: HashMap<Box<str>, V>,
    old: HashMap<Box<str>, V>,
    generation_max: usize,
}

impl<V> Cache<V> {
    pub(super) fn new(entries_max: usize) -> Cache<V> {
        Cache { young: HashMap::new(), old: HashMap::new(), generation_max: (entries_max / 2).max(1) }
    }

    pub(super) fn get(&mut self, name: &str) -> Option<&V> {
        if let Some((name, value)) = self.old.remove_entry(name) {
            self.insert(name, value);
        }
        self.young.get(name)
    }

    pub(super) fn insert(&mut self, name: Box<str>, value: V) {
        if self.young.len() >= self.generation_max && !self.young.contains_key(&name) {
            self.old = std::mem::take(&mut self.young);
        }
        self.old.remove(&name);
        self.young.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a11_the_cache_stays_within_its_bound_and_keeps_what_is_used() {
        let mut cache = Cache::new(10);
        for n in 0..1000 {
            cache.insert(n.to_string().into(), n);
            assert!(cache.young.len() + cache.old.len() <= 10);
            assert_eq!(cache.get("0"), Some(&0), "asked for each time, so never forgotten");
        }
        assert_eq!(cache.get("1"), None);
        assert_eq!(cache.get("999"), Some(&999));
    }
}
