/** A token of somebody's own making is not the owner's. */
export const notTheOwner = "the token is not that of this project's owner: it was made elsewhere, or later"
