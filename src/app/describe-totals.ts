import type { Totals } from "../domain/record.ts";

/** The totals of all plans. Totals that only a newer release counts are stored and not shown. */
export function describeTotals({ created, terminated, started }: Totals): Totals {
  return { created, terminated, ...(started === undefined ? {} : { started }) };
}
