//! Comments of users on payments.

use jiff::Timestamp;
use tillgate_domain::id::{EntityId, PaymentId, UserId};
use tillgate_engine::params;

use crate::admin::Act;
use crate::delivery::webhook::timestamp_from_milliseconds;
use crate::{AdminStore, Store, StoreError};

/// A comment to write.
#[derive(Debug, Clone)]
pub struct NewComment {
    /// The payment.
    pub payment: PaymentId,
    /// The entity that owns the payment.
    pub entity: EntityId,
    /// The author.
    pub user: UserId,
    /// The time, by the clock of the entity.
    pub written: Timestamp,
    /// The key of the form.
    pub key: String,
    /// The text.
    pub text: String,
}

/// A comment of a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentComment {
    /// The number, from 1.
    pub number: u32,
    /// The name of the author.
    pub author: String,
    /// The time, by the clock of the payment's entity.
    pub written: Timestamp,
    /// The text.
    pub text: String,
}

/// Result of a write of a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommentWrite {
    /// It is written, or was written by the same form before.
    Written,
    /// The payment has too many comments.
    TooMany,
}

impl AdminStore {
    /// Adds a comment, unless its form was written before, or the payment has `limit` comments.
    pub fn add_payment_comment(&self, new: &NewComment, limit: u32) -> Result<CommentWrite, StoreError> {
        self.in_transaction(|store| {
            let (payment, session) = (new.payment.as_str(), &*store.session);
            let query = "SELECT 1 FROM payment_comment WHERE payment = ?1 AND key = ?2";
            if session.has_row(query, [payment, &new.key])? {
                return Ok(CommentWrite::Written);
            }
            let query = "SELECT coalesce(max(number), 0) FROM payment_comment WHERE payment = ?1";
            let last: u32 = session.query_one(query, [payment], |row| row.get(0))?;
            if last >= limit {
                return Ok(CommentWrite::TooMany);
            }
            let number = last + 1;
            let details = [("number", &*number.to_string())];
            let act = Act { action: "comment add", subject: payment, entity: Some(&new.entity), details: &details };
            let (entity, user) = (new.entity.as_str(), new.user.as_str());
            store.execute_act(
                &act,
                "INSERT INTO payment_comment (payment, number, entity, user, written, key, text)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![payment, number, entity, user, new.written.as_millisecond(), new.key, new.text],
            )?;
            Ok(CommentWrite::Written)
        })
    }
}

impl Store {
    /// Loads the comments of a payment of an entity, the latest first, at most `limit`. With a number, only those
    /// before it.
    pub fn load_payment_comments(
        &self,
        entity: &EntityId,
        payment: &PaymentId,
        before: Option<u32>,
        limit: u32,
    ) -> Result<Vec<PaymentComment>, StoreError> {
        self.run_read(|session| {
            let query = "SELECT number, user.name, written, text FROM payment_comment JOIN user ON user.id = user
                 WHERE payment = ?1 AND entity = ?2 AND number < ?3 ORDER BY number DESC LIMIT ?4";
            let values = params![payment.as_str(), entity.as_str(), before.unwrap_or(u32::MAX), limit];
            session.query_all(query, values, |row| {
                Ok(PaymentComment {
                    number: row.get(0)?,
                    author: row.get(1)?,
                    written: timestamp_from_milliseconds(row.get(2)?),
                    text: row.get(3)?,
                })
            })
        })
    }
}
