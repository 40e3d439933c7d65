/** Time spans of .NET, the form of durations in host.json: [days.]hours:minutes:seconds[.fraction]. */
const pattern = /^(?:(\d+)\.)?(\d{1,2}):(\d{1,2}):(\d{1,2}(?:\.\d{1,7})?)$/;

/** The milliseconds of a time span such as "00:00:30" or "1.12:00:00.250". Undefined if the text is not a time span. */
export function parseTimeSpan(text: string): number | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [days, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0));
  if (days === undefined || hours === undefined || minutes === undefined || seconds === undefined)
    return undefined;
  if (hours > 23 || minutes > 59 || seconds >= 60) return undefined;
  return ((days * 24 + hours) * 60 + minutes) * 60_000 + Math.round(seconds * 1000);
}
