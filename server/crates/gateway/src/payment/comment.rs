//! Comments of users on payments. They cannot be changed or deleted: they explain what was done with somebody's money,
//! and a later comment corrects an earlier one.

use tillgate_domain::id::{EntityId, PaymentId, UserId};
use tillgate_domain::idempotency::IdempotencyKey;
use tillgate_domain::payment::comment::{MAX_COMMENTS, parse_comment};
use tillgate_store::{CommentWrite, NewComment};

use crate::administration::{ActError, Administration};

impl Administration {
    /// Adds a comment of a user to a payment. A form that is sent again writes nothing more.
    ///
    /// # Errors
    /// If the entity has no such payment, or the text is no comment.
    pub fn comment_payment(
        &self,
        (entity, payment): (&EntityId, &PaymentId),
        user: &UserId,
        key: &IdempotencyKey,
        text: &str,
    ) -> Result<(), ActError> {
        let text = parse_comment(text).map_err(|fault| ActError::refuse("text", fault.to_string()))?;
        let entity = self.load_entity(entity)?;
        self.load_payment(&entity.id, payment)?;
        let new = NewComment {
            payment: payment.clone(),
            written: self.now() + entity.ahead,
            entity: entity.id,
            user: user.clone(),
            key: key.as_str().to_owned(),
            text,
        };
        match self.store.add_payment_comment(&new, MAX_COMMENTS)? {
            CommentWrite::Written => Ok(()),
            CommentWrite::TooMany => {
                Err(ActError::refuse("text", format!("the payment has {MAX_COMMENTS} comments already")))
            }
        }
    }
}
