/**
 * @typedef {object} Figure
 * @property {number} median
 * @property {number} min
 * @property {number} max
 */

/**
 * @param {readonly number[]} values at least one
 * @returns {Figure}
 */
export function summarise(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const median =
    sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return { median: round(median), min: round(sorted[0]), max: round(sorted.at(-1)) };
}

/** Three digits are more than any of these figures is good for. */
export function round(value) {
  return Number(value.toPrecision(4));
}
