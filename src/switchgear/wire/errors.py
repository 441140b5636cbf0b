"""Errors on the wire: every class of ours has an AMP code under which it travels to the other side."""

from switchgear import errors

#: Our errors by the AMP code they travel under; the more special classes stand first.
AMP_ERRORS: dict[type[Exception], bytes] = {
    kind: kind.code.encode("ascii")
    for kind in (
        errors.NoSuchThing,
        errors.BadRequest,
        errors.Conflict,
        errors.TryAgain,
        errors.StaleEpoch,
        errors.VersionMismatch,
        errors.Bug,
    )
}
