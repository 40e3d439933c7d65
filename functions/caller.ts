/** The longest name of a caller that is recorded, in characters. */
const MOST_CHARACTERS = 128;

/** The header that App Service authentication sets. */
const NAME_HEADER = "x-ms-client-principal-name";

/**
 * The name of the signed-in caller. Undefined if it is not known. If App Service authentication is on (`platformSignsIn`), the platform sets
 * the header and removes a sender's own. Otherwise any sender can set it, so it is not read.
 */
export function callerOf(headers: Pick<Headers, "get">, platformSignsIn: boolean): string | undefined {
  const given = headers.get(NAME_HEADER);
  if (!platformSignsIn || given === null) return undefined;
  const printable = given.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "").trim();
  const name = Array.from(printable).slice(0, MOST_CHARACTERS).join("");
  return name.length === 0 ? undefined : name;
}
