import type { Totals } from "../domain/record.ts";

/** What has been done in all. What a newer release counts beside these is stored and not shown. */
export function describeTotals({ created, terminated, started }: Totals): Totals {
  return { created, terminated, ...(started === undefined ? {} : { started }) };
}
