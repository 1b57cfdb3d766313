// Package comments has suppressions that suppress nothing.
package comments

func comments() {
	//idemlint:ignore unguarded -- it only reads

	// want +1 `ignore: idemlint:ignore suppresses nothing without a reason`
	//idemlint:ignore unguarded

	// want +1 `without a reason`
	//idemlint:ignore unguarded --

	// want +1 `ignore: idemlint:ignore names one rule, unguarded or freshkey`
	//idemlint:ignore everything -- because

	// want +1 `there is no such directive`
	//idemlint:disable unguarded -- because

	// idemlint:ignore is only mentioned here.
}
