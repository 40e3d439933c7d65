/** Maps with at most `width` calls in progress at one time. Results are in the order of the items. The first failure ends it. */
export async function inParallel<T, R>(
  items: readonly T[],
  width: number,
  call: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const work = async () => {
    // The workers share one iterator: each takes the next free item.
    for (const [position, item] of queue) results[position] = await call(item);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, work));
  return results;
}
