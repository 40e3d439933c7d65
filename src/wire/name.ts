import { z } from "zod";

const LONGEST_NAME = 200;
const CONTROL_CHARACTER = /\p{Cc}/u;

/** What a name of a cluster, a request set or a node array has to be. */
export const NAME_EXPECTED = `text of 1 to ${LONGEST_NAME} characters, none of them a control character`;

export function isName(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value.length >= 1 &&
    value.length <= LONGEST_NAME &&
    !CONTROL_CHARACTER.test(value)
  );
}

export const nameSchema = z.string({ error: NAME_EXPECTED }).refine(isName, { error: NAME_EXPECTED });
