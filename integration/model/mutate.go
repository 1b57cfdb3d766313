package main

// mutation changes one condition or sentence of the protocol.
type mutation uint8

const (
	asDesigned mutation = iota
	claimUnconditional
	claimNoExpiry
	claimAnyStatus
	claimLeaseOver
	claimNoVersion
	claimVersionEqual
	expiryNoMargin
	epochFromOne
	decideNoVersion
	decideNoExpiry
	decideNoOwn
	decideNoPrincipal
	decideRequestFirst
	decideNoRequest
	decideRequestCompletedOnly
	decideReplayFirst
	releasedByPolicy
	refuseTakesOver
	runWithoutLease
	letGoReleases
	takeoverNoOwner
	takeoverNoEpoch
	takeoverNoStatus
	takeoverNoLease
	takeoverNoSteps
	takeoverKeepsExpiry
	takeoverEpochNow
	takeoverEpochIncrement
	completeNoOwner
	completeNoStatus
	completeRecreates
	completeKeepsExpiry
	ownCompletionUnknown
	ownCompletionInHand
	loserBlind
	loserTakesOver
	businessApart
	businessFirst
	businessAnswerReleases
	businessAnswerAnyway
	unknownIsSuccess
	unknownReleases
	unknownReleases503
	unknownNoRead
	readNotConsistent
	releaseNoOwner
	releaseNoStatus
	releaseDeletes
	releaseKeepsExpiry
	panicReleases
	orphanNoOwner
	orphanNoStatus
	orphanWhileRunning
	orphanIgnoresItem
	extendNoOwner
	extendNoStatus
	extendKeepsExpiry
	extendBlind
	extendOnlyGrows
	checkpointNoOwner
	checkpointNoStatus
	leaseNoMargin
	ownerNoMargin
	takerEarly
	takerWaitsMore
	refuseExpires
	expiryWithLease
	expiryMarginOnce
	recoverySkipped
	recoveryLeaseOnce
	validateFirst
	validateTakesOver
)

// mutant says where a mutation is caught, or why its condition stays although nothing catches it.
type mutant struct {
	mutation  mutation
	name      string
	about     string
	configs   []string
	redundant string
}

func at(names ...string) []string { return names }

var mutants = []mutant{
	{claimUnconditional, "claim-unconditional", "claim without a condition", at("plain"), ""},
	{claimNoExpiry, "claim-no-expiry", "claim replaces a finished record that has not expired", at("plain"), ""},
	{claimAnyStatus, "claim-any-status", "claim without `status IN (completed, released)`", at("recover"), ""},
	{claimLeaseOver, "claim-lease-over", "claim replaces an expired orphan", at("steps"), ""},
	{claimNoVersion, "claim-no-version", "claim without the condition on v", at("unknown-version"), ""},
	{claimVersionEqual, "claim-version-equal", "first wording: `v = :v`, not the versions it can read", at("former-version"), ""},
	{expiryNoMargin, "expiry-no-margin", "`expires_at <= now`, without the margin", at("plain"), ""},
	{epochFromOne, "epoch-from-one", "a claim's epoch is 1, not its time", at("plain"), ""},
	{decideNoVersion, "decide-no-version", "decision without step 1", at("unknown-version"), ""},
	{decideNoExpiry, "decide-no-expiry", "first wording: the decision does not look at expires_at", at("validate"), ""},
	{decideNoOwn, "decide-no-own", "decision without step 2", at("plain"), ""},
	{decideNoPrincipal, "decide-no-principal", "decision without step 3", at("other-principal"), ""},
	{decideRequestFirst, "decide-request-first", "fingerprint before principal", at("other-principal"), ""},
	{decideNoRequest, "decide-no-request", "decision without step 4", at("other-request"), ""},
	{decideRequestCompletedOnly, "decide-request-completed-only", "fingerprint compared in completed records only", at("other-request"), ""},
	{decideReplayFirst, "decide-replay-first", "replay before the comparison", at("other-request"), ""},
	{releasedByPolicy, "released-by-policy", "a released record goes to the orphan policy", at("refuse"), ""},
	{refuseTakesOver, "refuse-takes-over", "Refuse takes over", at("refuse"), ""},
	{runWithoutLease, "run-without-lease", "runs although too little lease is left", at("plain"), ""},
	{letGoReleases, "let-go-releases", "first wording: letting go of a taken-over orphan releases it", at("recover-3"), ""},
	{takeoverNoOwner, "takeover-no-owner", "takeover without `owner = :seen`", at("three", "three-late", "plain"), "only with correction 8: epoch says more"},
	{takeoverNoEpoch, "takeover-no-epoch", "first wording: takeover without `epoch = :seen`", at("three-late"), ""},
	{takeoverNoStatus, "takeover-no-status", "takeover without `status = :seen`", at("transact", "plain", "three"), "an owner's record leaves processing only without its lease_until"},
	{takeoverNoLease, "takeover-no-lease", "takeover without `lease_until = :seen`", at("renew"), ""},
	{takeoverNoSteps, "takeover-no-steps", "first wording: takeover without the number of steps as seen", at("steps"), ""},
	{takeoverKeepsExpiry, "takeover-keeps-expiry", "takeover leaves expires_at", at("refuse"), ""},
	{takeoverEpochNow, "takeover-epoch-now", "takeover sets epoch to now", at("plain-behind"), ""},
	{takeoverEpochIncrement, "takeover-epoch-increment", "takeover sets epoch to old + 1", at("three", "plain"), "a restored backup brings an old epoch back"},
	{completeNoOwner, "complete-no-owner", "completion without `owner = :me`", at("plain"), ""},
	{completeNoStatus, "complete-no-status", "completion without `status = processing`", at("transact-blind"), ""},
	{completeRecreates, "complete-recreates", "completion creates a record that is gone", at("plain"), ""},
	{completeKeepsExpiry, "complete-keeps-expiry", "completion leaves expires_at", at("refuse"), ""},
	{ownCompletionUnknown, "own-completion-unknown", "own completed record not recognised", at("plain"), ""},
	{ownCompletionInHand, "own-completion-in-hand", "own completed record answered with the response in hand, not the recorded one", at("transact-answer"), ""},
	{loserBlind, "loser-blind", "a fenced loser gets the winner's response unchecked", at("other-request"), ""},
	{loserTakesOver, "loser-takes-over", "a fenced loser takes over again", at("three"), ""},
	{businessApart, "business-apart", "business writes follow the completion", at("transact"), ""},
	{businessFirst, "business-first", "business reason read before ours", at("transact-answer", "transact"), "F89: one call less, and right even where the item is not read"},
	{businessAnswerReleases, "business-answer-releases", "business answer released, not recorded", at("transact-answer"), ""},
	{businessAnswerAnyway, "business-answer-anyway", "first wording: business answer given although a transaction is unanswered", at("transact-answer"), ""},
	{unknownIsSuccess, "unknown-is-success", "unanswered transaction told as the handler's response", at("transact"), ""},
	{unknownReleases, "unknown-releases", "unanswered transaction released and told as a failure", at("transact"), ""},
	{unknownReleases503, "unknown-releases-503", "unanswered transaction released, told 503 outcome-unknown", at("transact", "transact-blind"), "one rule less to reason about"},
	{unknownNoRead, "unknown-no-read", "503 outcome-unknown without the read", at("transact", "transact-blind"), "most callers get their response at once"},
	{readNotConsistent, "read-not-consistent", "reads that are not consistent", at("validate"), ""},
	{releaseNoOwner, "release-no-owner", "release without `owner = :me`", at("plain"), ""},
	{releaseNoStatus, "release-no-status", "release without `status = processing`", at("transact", "plain"), "no release follows a completion only while an unknown outcome is never released"},
	{releaseDeletes, "release-deletes", "release deletes the item", at("steps"), ""},
	{releaseKeepsExpiry, "release-keeps-expiry", "release leaves expires_at", at("refuse"), ""},
	{panicReleases, "panic-releases", "a panic releases", at("refuse"), ""},
	{orphanNoOwner, "orphan-no-owner", "orphaning without `owner = :me`", at("plain"), ""},
	{orphanNoStatus, "orphan-no-status", "orphaning without `status = processing`", at("transact"), ""},
	{orphanWhileRunning, "orphan-while-running", "orphaned when the context is cancelled, before the handler has returned", at("plain"), ""},
	{orphanIgnoresItem, "orphan-ignores-item", "first wording: an orphaning refused by my own completion is told as 500", at("transact"), ""},
	{extendNoOwner, "extend-no-owner", "renewal without `owner = :me`", at("renew-fails"), ""},
	{extendNoStatus, "extend-no-status", "renewal without `status = processing`", at("renew", "renew-fails"), "only with correction 1, which asks for a lease_until that is then gone"},
	{extendKeepsExpiry, "extend-keeps-expiry", "renewal leaves expires_at", at("renew"), ""},
	{extendBlind, "extend-blind", "first wording: renewal without `lease_until = :known`", at("renew"), ""},
	{extendOnlyGrows, "extend-only-grows", "renewal with `lease_until < :new` instead", at("renew-fails"), ""},
	{checkpointNoOwner, "checkpoint-no-owner", "checkpoint without `owner = :me`", at("steps"), ""},
	{checkpointNoStatus, "checkpoint-no-status", "checkpoint without `status = processing`", at("steps"), ""},
	{leaseNoMargin, "lease-no-margin", "lease_until written without the margin, owner works until it", at("plain"), ""},
	{ownerNoMargin, "owner-no-margin", "owner works until lease_until", at("plain"), ""},
	{takerEarly, "taker-early", "taker does not wait for lease_until", at("plain"), ""},
	{takerWaitsMore, "taker-waits-more", "taker adds the margin once more", at("plain"), ""},
	{refuseExpires, "refuse-expires", "processing records expire under Refuse", at("refuse"), ""},
	{expiryWithLease, "expiry-with-lease", "processing records expire with their lease", at("plain-behind"), ""},
	{expiryMarginOnce, "expiry-margin-once", "processing expires one margin after its lease, not more than two", at("plain-behind"), ""},
	{recoverySkipped, "recovery-skipped", "Recover without its recovery function", at("recover"), ""},
	{recoveryLeaseOnce, "recovery-lease-once", "first wording: no look at the lease between recovery and handler", at("recover"), ""},
	{validateFirst, "validate-first", "the hook's refusal is told without a read", at("validate"), ""},
	{validateTakesOver, "validate-takes-over", "a refused request takes over", at("validate"), ""},
}
