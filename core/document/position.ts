/** Line and column from 1; columns in UTF-16 units, like editors. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Converts offsets to lines and columns; lines are counted at the first call. */
export function createPlaceFinder(text: string): (offset: number) => Position {
  let starts: readonly number[] | null = null;
  return (offset) => {
    starts ??= findLineStarts(text);
    const line = countUpTo(starts, offset);
    return { line, column: offset - (starts[line - 1] ?? 0) + 1 };
  };
}

function findLineStarts(text: string): number[] {
  const starts = [0];
  for (let lineEnd = text.indexOf('\n'); lineEnd !== -1; lineEnd = text.indexOf('\n', lineEnd + 1))
    starts.push(lineEnd + 1);
  return starts;
}

/** The number of ascending numbers that are at most `limit`. */
function countUpTo(ascending: readonly number[], limit: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
