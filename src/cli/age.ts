/** The time between two moments: "45s", "12m", "3h05m", "2d4h". Undefined if one of them is unknown. */
export function ageBetween(from: string | undefined, to: string | undefined): string | undefined {
  if (from === undefined || to === undefined) return undefined;
  const milliseconds = Date.parse(to) - Date.parse(from);
  return Number.isNaN(milliseconds) ? undefined : durationText(milliseconds / 1000);
}

/** A duration in seconds as text: "45s", "12m", "3h05m", "2d4h". */
export function durationText(long: number): string {
  const seconds = Math.max(0, Math.floor(long));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours}h${String(minutes % 60).padStart(2, "0")}m`;
  return `${Math.floor(hours / 24)}d${hours % 24}h`;
}
