//! Registrations for users of the back office: the page of a registration, the links of a payment to it, and the
//! deletion. The user's right is checked again when the deletion is decided.

use tillgate_domain::access::role::{Permission, Reach};
use tillgate_domain::id::{EntityId, RegistrationId};
use tillgate_domain::payment::Payment;
use tillgate_domain::payment::query::PaymentRange;
use tillgate_domain::registration::Registration;
use tillgate_domain::schedule::Schedule;
use tillgate_store::Cancellation;

use crate::access::actor::Actor;
use crate::administration::ActError;
use crate::payment::listing::{ListFilter, ListPage};
use crate::payment::response_recorder::ResponseRecorder;
use crate::{Failure, Gateway};

/// A registration with what was done with it.
pub struct RegistrationDetails {
    /// The registration.
    pub registration: Registration,
    /// True if payments can be made with it.
    pub is_usable: bool,
    /// Its schedules, newest first, at most 100.
    pub schedules: Vec<Schedule>,
    /// Its newest payments.
    pub payments: ListPage,
}

/// The entities of which a user may see each part of the page of a registration.
pub struct CustomerScope {
    /// Registrations and schedules.
    pub customers: Vec<EntityId>,
    /// Payments.
    pub payments: Vec<EntityId>,
}

/// Things of a customer that a payment belongs to, and that a user may see.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CustomerLinks {
    /// True if the user may see the registration.
    pub registration: bool,
    /// True if the user may see the schedule.
    pub schedule: bool,
}

impl Gateway {
    /// Loads a registration of the scope with its schedules and its newest payments, at most `limit`. Returns `None` if
    /// it belongs to none of the entities.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn load_registration_details(
        &self,
        scope: &CustomerScope,
        id: &RegistrationId,
        limit: usize,
        cancelled: &Cancellation<'_>,
    ) -> Result<Option<RegistrationDetails>, Failure> {
        let found = self.store.load_registration_with_account(&scope.customers, id)?;
        let Some((registration, _)) = found else { return Ok(None) };
        let mut schedules = self.store.load_schedules_of_registration(id)?;
        schedules.retain(|schedule| scope.customers.contains(&schedule.entity));
        let filter = ListFilter { registration: Some(id.clone()), ..ListFilter::default() };
        let range = PaymentRange::all_time();
        let payments = self.list_payments(&scope.payments, &filter, &range, limit, cancelled)?;
        let is_usable = registration.check_usable(self.now_of_id(&registration.entity)).is_ok();
        Ok(Some(RegistrationDetails { registration, is_usable, schedules, payments }))
    }

    /// Finds the registration and the schedule of a payment among those of these entities.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn find_customer_links(&self, entities: &[EntityId], payment: &Payment) -> Result<CustomerLinks, Failure> {
        let mut links = CustomerLinks::default();
        if let Some(id) = &payment.registration {
            links.registration = self.store.load_registration_with_account(entities, id)?.is_some();
        }
        if let Some(id) = &payment.schedule {
            let schedule = self.store.load_schedule_of_step(id)?;
            links.schedule = schedule.is_some_and(|schedule| entities.contains(&schedule.entity));
        }
        Ok(links)
    }

    /// Deletes a registration for a user, with the rules of [`Gateway::delete_registration`].
    ///
    /// # Errors
    /// If the user's session or right has ended; `registration` by name if it was rejected or has ended already.
    pub async fn remove_registration(
        &self,
        actor: &Actor,
        (owner, id): (&EntityId, &RegistrationId),
    ) -> Result<Registration, ActError> {
        let unknown = || ActError::refuse("registration", "there is no registration with this id");
        self.check_right_of(actor, (Permission::ChangeCustomers, &Reach::Entity(owner.clone())))?;
        let owner = self.directory.find_entity(owner).ok_or_else(unknown)?;
        let recorder = ResponseRecorder::disabled().with_actor(actor.name()).with_address(actor.address());
        match self.delete_registration(&owner, id.as_str(), recorder).await {
            Ok(registration) => Ok(registration),
            Err(Failure::Refused(refusal)) => Err(ActError::from_refusal(&refusal, "registration", |_| "registration")),
            Err(failure) => Err(failure.into()),
        }
    }
}
