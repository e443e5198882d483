/** `expected at least 1 item`, `expected at most 3 members`. */
export function sizeReason(bound: 'at least' | 'at most', size: number, noun: string): string {
  return `expected ${bound} ${size} ${noun}${size === 1 ? '' : 's'}`;
}
