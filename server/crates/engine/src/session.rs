//! A session with a database: a connection that belongs to one thread at a time.

use super::{Error, ErrorKind, FromValue, OwnedValue, Params, Result, Row, Rows, ToValue as _, Transaction, ValueRef};

/// The way in which a query is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadExtent {
    /// To its end, or its first row only where the statement finds few.
    Whole,
    /// Until its reader has enough, which may be long before its end.
    Partly,
}

/// The rows that a transaction reads before it writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteScope<'a> {
    /// Any: no other writer may run meanwhile.
    Everything,
    /// Those of one owner: writers of other owners may run meanwhile.
    Owner(&'a str),
    /// None: each statement checks itself what it changes, so every writer but those of everything may run meanwhile.
    Nothing,
}

/// A connection to a database. Statements are compiled once and kept.
pub trait Session: Send {
    /// Runs a statement that returns no rows. Returns the number of rows that it has inserted, changed or deleted.
    ///
    /// # Errors
    /// If the database refuses or fails.
    fn execute_values(&self, statement: &str, values: &[ValueRef<'_>]) -> Result<usize>;

    /// Runs a statement that returns no rows, and may return before the database has answered. In a transaction on a
    /// server, its failure is then that of a later statement, or of [`Session::await_sent`].
    ///
    /// # Errors
    /// The same.
    fn send_values(&self, statement: &str, values: &[ValueRef<'_>]) -> Result<()> {
        self.execute_values(statement, values).map(drop)
    }

    /// Waits for the answers to all statements that were sent.
    ///
    /// # Errors
    /// That of the first one that has failed.
    fn await_sent(&self) -> Result<()> {
        Ok(())
    }

    /// Begins a query.
    ///
    /// # Errors
    /// If the database refuses or fails.
    fn query_values(&self, statement: &str, values: &[ValueRef<'_>], extent: ReadExtent) -> Result<Rows<'_>>;

    /// Runs several statements without parameters, separated by semicolons. They are not kept.
    ///
    /// # Errors
    /// That of the first statement that fails. Those before it stay.
    fn run_script(&self, script: &str) -> Result<()>;

    /// Calls a function of the session, which may know what the database must not know, such as a key. Returns `None`
    /// if the session has no function of this name.
    ///
    /// # Errors
    /// That of the function.
    fn call_function(&self, name: &str, values: &[ValueRef<'_>]) -> Result<Option<OwnedValue>>;

    /// Begins a transaction that keeps all other writers out, so that nobody changes what it reads before it writes.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`] if another one does not end in time. Also inside of a transaction.
    fn begin_write(&self) -> Result<()>;

    /// Begins a transaction that keeps out only those writers that could change what it reads before it writes. A
    /// database with one writer keeps all of them out.
    ///
    /// # Errors
    /// The same.
    fn begin_write_within(&self, _scope: WriteScope<'_>) -> Result<()> {
        self.begin_write()
    }

    /// Begins a transaction that only reads, all of it from one state of the database.
    ///
    /// # Errors
    /// If the database fails.
    fn begin_read(&self) -> Result<()>;

    /// Begins a transaction that only reads, at a moment at which no other session is writing: what is written later
    /// has larger numbers than all that it reads. Several writers commit their numbers in no order.
    ///
    /// # Errors
    /// If the database fails.
    fn begin_quiet_read(&self) -> Result<()> {
        self.begin_read()
    }

    /// Returns the next number of a table whose column `number` is its key. It is larger than all numbers of rows that
    /// were there when the transaction began, or that it has written. Numbers of several writers at once come in no
    /// order.
    ///
    /// # Errors
    /// If the database fails.
    fn next_number(&self, table: &str) -> Result<i64>;

    /// Sets a savepoint of the transaction. The name is a word of our own.
    ///
    /// # Errors
    /// If the database fails.
    fn set_savepoint(&self, name: &str) -> Result<()>;

    /// Undoes what was written since a savepoint, which stays.
    ///
    /// # Errors
    /// If the database fails. The transaction cannot be committed then.
    fn return_to_savepoint(&self, name: &str) -> Result<()>;

    /// Ends a savepoint. What was written since stays.
    ///
    /// # Errors
    /// If the database fails.
    fn release_savepoint(&self, name: &str) -> Result<()>;

    /// Makes what was written since [`Session::begin_write`] durable. After a failure the transaction has ended.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownCommit`] if it may be durable nevertheless.
    fn commit(&self) -> Result<()>;

    /// Undoes what was written since [`Session::begin_write`]. Does nothing outside of a transaction.
    ///
    /// # Errors
    /// If the database fails. The session cannot be used any more then.
    fn roll_back(&self) -> Result<()>;

    /// Returns true if the session cannot be used any more, because its connection is gone.
    fn is_lost(&self) -> bool {
        false
    }

    /// Returns true inside of a transaction. A database may end one by itself, such as on a full disk.
    fn is_in_transaction(&self) -> bool;
}

impl dyn Session + '_ {
    /// Runs a statement that returns no rows. Returns the number of rows that it has inserted, changed or deleted.
    ///
    /// # Errors
    /// If the database refuses or fails, or a parameter does not fit into a column.
    pub fn execute(&self, statement: &str, parameters: impl Params) -> Result<usize> {
        parameters.bind(|values| self.execute_values(statement, values))
    }

    /// Runs a statement on whose outcome nothing but the commit depends. The transaction may go on before the database
    /// has answered: see [`Session::send_values`].
    ///
    /// # Errors
    /// The same.
    pub fn send(&self, statement: &str, parameters: impl Params) -> Result<()> {
        parameters.bind(|values| self.send_values(statement, values))
    }

    /// Begins a query whose reader may stop before its end.
    ///
    /// # Errors
    /// The same.
    pub fn query(&self, statement: &str, parameters: impl Params) -> Result<Rows<'_>> {
        parameters.bind(|values| self.query_values(statement, values, ReadExtent::Partly))
    }

    fn query_whole(&self, statement: &str, parameters: impl Params) -> Result<Rows<'_>> {
        parameters.bind(|values| self.query_values(statement, values, ReadExtent::Whole))
    }

    /// Reads the first row of a query.
    ///
    /// # Errors
    /// [`ErrorKind::NoRow`] if there is none, or as [`Self::query_optional`].
    pub fn query_one<T, E: From<Error>>(
        &self,
        statement: &str,
        parameters: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let found = self.query_optional(statement, parameters, read)?;
        found.ok_or_else(|| Error::new(ErrorKind::NoRow, "a query that must find a row has found none").into())
    }

    /// Reads the first row of a query. Returns `None` if there is none.
    ///
    /// # Errors
    /// If the database refuses or fails, or the row cannot be read.
    pub fn query_optional<T, E: From<Error>>(
        &self,
        statement: &str,
        parameters: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        let mut rows = self.query_whole(statement, parameters)?;
        rows.next()?.map(|row| read(&row)).transpose()
    }

    /// Reads all rows of a query.
    ///
    /// # Errors
    /// If the database refuses or fails, or a row cannot be read.
    pub fn query_all<T, E: From<Error>, C: FromIterator<T>>(
        &self,
        statement: &str,
        parameters: impl Params,
        mut read: impl FnMut(&Row<'_>) -> Result<T, E>,
    ) -> Result<C, E> {
        let mut rows = self.query_whole(statement, parameters)?;
        std::iter::from_fn(|| match rows.next() {
            Ok(row) => row.map(|row| read(&row)),
            Err(error) => Some(Err(error.into())),
        })
        .collect()
    }

    /// Calls a function of the session. Returns `None` if it has no function of this name.
    ///
    /// # Errors
    /// That of the function, or if its value is not of this type.
    pub fn call<T: FromValue>(&self, name: &str, parameters: impl Params) -> Result<Option<T>> {
        let value = parameters.bind(|values| self.call_function(name, values))?;
        value.map(|value| T::from_value(value.to_value()?)).transpose()
    }

    /// Returns true if a query finds a row. The statement finds few.
    ///
    /// # Errors
    /// If the database refuses or fails.
    pub fn has_row(&self, statement: &str, parameters: impl Params) -> Result<bool> {
        Ok(self.query_whole(statement, parameters)?.next()?.is_some())
    }

    /// Begins a transaction that keeps all other writers out. It is undone when it is dropped before its commit.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`] if another one does not end in time.
    pub fn begin(&self) -> Result<Transaction<'_>> {
        self.begin_write()?;
        Ok(Transaction::new(self))
    }

    /// Begins a transaction that only reads, at a moment at which nobody is writing. It ends when it is dropped.
    ///
    /// # Errors
    /// If the database refuses or fails.
    pub fn begin_quiet_snapshot(&self) -> Result<Transaction<'_>> {
        self.begin_quiet_read()?;
        Ok(Transaction::new(self))
    }

    /// Begins a transaction that only reads, and reads everything as of one moment. It ends when it is dropped.
    ///
    /// # Errors
    /// If the database refuses or fails.
    pub fn begin_snapshot(&self) -> Result<Transaction<'_>> {
        self.begin_read()?;
        Ok(Transaction::new(self))
    }
}
