//! Decisions that the command line requests: carried out once, and answered.

use tillgate_domain::review::request::ReviewAnswer;
use tillgate_store::review::request::StoredRequest;

use crate::{Failure, Gateway};

impl Gateway {
    /// Carries out a requested decision, and stores its answer. If the process ended between the decision and the
    /// answer, the audit tells that the decision is carried out, and only the answer is stored.
    ///
    /// # Errors
    /// If the store or the vault fails. The request waits then, and may be carried out later.
    pub async fn carry_out_request(&self, stored: StoredRequest) -> Result<(), Failure> {
        let answer = self.decide_requested(&stored).await?;
        Ok(self.store.answer_request(stored.payment, answer, self.now()).await?)
    }

    /// Decides as a request says. Returns its answer.
    async fn decide_requested(&self, stored: &StoredRequest) -> Result<ReviewAnswer, Failure> {
        let StoredRequest { payment, request, .. } = stored;
        let Some(request) = request else {
            return Ok(ReviewAnswer::refused("This release cannot read the request".to_owned()));
        };
        let Some((review, payment, _)) = self.store.load_review_record(payment)? else {
            return Ok(ReviewAnswer::refused("The payment is not held".to_owned()));
        };
        let written = self.store.load_review_actions_after(&payment.id, request.after)?;
        if written.iter().any(|action| request.has_written(action)) {
            return Ok(ReviewAnswer::done(&payment));
        }
        if review.has_ended {
            return Ok(ReviewAnswer::refused(review.describe_end()));
        }
        match self.decide_payment(&payment, request.to_decision(&payment)).await {
            Ok(payment) => Ok(ReviewAnswer::done(&payment)),
            Err(Failure::Refused(refusal)) => {
                let description = refusal.description.as_deref().unwrap_or_else(|| refusal.code.description());
                Ok(ReviewAnswer::refused(description.to_owned()))
            }
            Err(failure) => Err(failure),
        }
    }
}
