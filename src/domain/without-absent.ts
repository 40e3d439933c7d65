/** The members that are not undefined. A loop, because a status has thousands of nodes: three times as fast as by entries. */
export function withoutAbsent<T extends object>(members: T): WithoutAbsent<T>;
export function withoutAbsent(members: Readonly<Record<string, unknown>>): object {
  const there: Record<string, unknown> = {};
  for (const name in members) if (members[name] !== undefined) there[name] = members[name];
  return there;
}

type WithoutAbsent<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};
