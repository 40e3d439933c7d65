/** Names in a sentence: "a, b", or with more than `most` names "a, b and 3 more". Empty for no names. */
export function someOf(names: readonly string[], most: number): string {
  const some = names.slice(0, most).join(", ");
  const more = names.length - most;
  return more > 0 ? `${some} and ${more} more` : some;
}
