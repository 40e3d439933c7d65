import * as z from "zod";
import { isLabel, isName, LABEL_EXPECTED, NAME_EXPECTED } from "../../domain/name.ts";

export {
  isKeptLabel,
  isKeptName,
  isLabel,
  isName,
  LABEL_EXPECTED,
  NAME_EXPECTED,
} from "../../domain/name.ts";

export const labelSchema = z.string({ error: LABEL_EXPECTED }).refine(isLabel, { error: LABEL_EXPECTED });
export const nameSchema = z.string({ error: NAME_EXPECTED }).refine(isName, { error: NAME_EXPECTED });
