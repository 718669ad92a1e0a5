//! The parameters of a statement.

use super::{Result, ToValue, ValueRef};

/// Number of parameters that need no memory of their own. Few statements have more.
const INLINE: usize = 16;

/// Parameters of a statement, in the order of their numbers (`?1`, `?2` …).
pub trait Params {
    /// Passes the values to `run`.
    ///
    /// # Errors
    /// Those of `run`, or that of a parameter that is out of the range of a column.
    fn bind<T>(&self, run: impl FnOnce(&[ValueRef<'_>]) -> Result<T>) -> Result<T>;
}

/// None.
impl Params for () {
    fn bind<T>(&self, run: impl FnOnce(&[ValueRef<'_>]) -> Result<T>) -> Result<T> {
        run(&[])
    }
}

impl<P: ToValue> Params for &[P] {
    fn bind<T>(&self, run: impl FnOnce(&[ValueRef<'_>]) -> Result<T>) -> Result<T> {
        let mut inline = [ValueRef::Null; INLINE];
        let Some(places) = inline.get_mut(..self.len()) else {
            let values = self.iter().map(ToValue::to_value).collect::<Result<Vec<_>>>()?;
            return run(&values);
        };
        for (place, parameter) in places.iter_mut().zip(*self) {
            *place = parameter.to_value()?;
        }
        run(places)
    }
}

impl<P: ToValue, const N: usize> Params for [P; N] {
    fn bind<T>(&self, run: impl FnOnce(&[ValueRef<'_>]) -> Result<T>) -> Result<T> {
        self.as_slice().bind(run)
    }
}

impl<P: ToValue, const N: usize> Params for &[P; N] {
    fn bind<T>(&self, run: impl FnOnce(&[ValueRef<'_>]) -> Result<T>) -> Result<T> {
        self.as_slice().bind(run)
    }
}

impl<P: ToValue> Params for Vec<P> {
    fn bind<T>(&self, run: impl FnOnce(&[ValueRef<'_>]) -> Result<T>) -> Result<T> {
        self.as_slice().bind(run)
    }
}

/// Lists parameters of different types.
#[macro_export]
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        [$(&$value as &dyn $crate::ToValue),*]
    };
}
