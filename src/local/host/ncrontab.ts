/**
 * NCRONTAB schedules, in UTC: {second} {minute} {hour} {day} {month} {day of week}; five fields mean second 0. Unlike Unix cron the day
 * and the day of week must *both* match, `a/n` runs from a to the end of the field, and Sunday is 0 only (platform.md section 3,
 * "Timer semantics").
 */
export type Schedule = {
  /** The first occurrence after `time`, both in milliseconds since 1970. Throws if there is none in 50 years. */
  next(time: number): number;
};

type Field = {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
};

const months = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const weekdays = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const fields: readonly Field[] = [
  { name: "second", min: 0, max: 59 },
  { name: "minute", min: 0, max: 59 },
  { name: "hour", min: 0, max: 23 },
  { name: "day", min: 1, max: 31 },
  { name: "month", min: 1, max: 12, names: months },
  { name: "day of week", min: 0, max: 6, names: weekdays },
];

const day = 86_400_000;
const longestSearchInDays = 50 * 366;

/** Parses an expression. Throws if it is invalid; the error names the field. */
export function parseSchedule(expression: string): Schedule {
  const given = expression.trim().split(/\s+/);
  const texts = given.length === 5 ? ["0", ...given] : given;
  const wrong = new Error(`"${expression}" is not an NCRONTAB expression: it has ${given.length} fields`);
  if (texts.length !== fields.length) throw wrong;
  const [seconds, minutes, hours, days, monthNumbers, daysOfWeek] = fields.map((field, i) => {
    const text = texts[i];
    return text === undefined ? undefined : parseField(field, text, expression);
  });
  if (!seconds || !minutes || !hours || !days || !monthNumbers || !daysOfWeek) throw wrong;
  const dayMatches = (date: Date) =>
    monthNumbers.has(date.getUTCMonth() + 1) &&
    days.has(date.getUTCDate()) &&
    daysOfWeek.has(date.getUTCDay());
  const timesOfDay = { seconds: sorted(seconds), minutes: sorted(minutes), hours: sorted(hours) };
  return {
    next(time) {
      const from = Math.floor(time / 1000) * 1000 + 1000;
      const firstDay = Math.floor(from / day) * day;
      for (let i = 0; i < longestSearchInDays; i++) {
        const midnight = firstDay + i * day;
        if (!dayMatches(new Date(midnight))) continue;
        const offset = firstTimeOfDay(timesOfDay, Math.max(0, from - midnight) / 1000);
        if (offset !== undefined) return midnight + offset * 1000;
      }
      throw new Error(`"${expression}" never occurs`);
    },
  };
}

type TimesOfDay = {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
};

/** The first matching second of a day at or after `from`, in seconds since midnight. Undefined if the day has none. */
function firstTimeOfDay(times: TimesOfDay, from: number): number | undefined {
  for (const hour of times.hours) {
    if (hour * 3600 + 3599 < from) continue;
    for (const minute of times.minutes) {
      const start = hour * 3600 + minute * 60;
      if (start + 59 < from) continue;
      const second = times.seconds.find((candidate) => start + candidate >= from);
      if (second !== undefined) return start + second;
    }
  }
  return undefined;
}

function parseField(field: Field, text: string, expression: string): ReadonlySet<number> {
  const refuse = (part: string): never => {
    throw new Error(`"${part}" is not a ${field.name} (${field.min} to ${field.max}) in "${expression}"`);
  };
  const numberOf = (part: string): number => {
    const named = field.names?.findIndex((name) => part.toUpperCase().startsWith(name));
    if (named !== undefined && named >= 0) return named + field.min;
    const value = /^\d+$/.test(part) ? Number(part) : Number.NaN;
    return value >= field.min && value <= field.max ? value : refuse(part);
  };
  const values = new Set<number>();
  for (const part of text.split(",")) {
    const match = /^(?:(\*)|([^-/]+)(?:-([^-/]+))?)(?:\/([1-9]\d*))?$/.exec(part) ?? refuse(part);
    const [, , low, high, step] = match;
    const isOpen = low === undefined || step !== undefined;
    const from = low === undefined ? field.min : numberOf(low);
    const to = high !== undefined ? numberOf(high) : isOpen ? field.max : from;
    if (to < from) refuse(part);
    for (let value = from; value <= to; value += Number(step ?? 1)) values.add(value);
  }
  return values;
}

const sorted = (values: ReadonlySet<number>): readonly number[] => [...values].sort((a, b) => a - b);
