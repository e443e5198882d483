import { readFileSync, writeFileSync } from 'node:fs';

const file = process.env['CLOCK_SHIFT_FILE'];
if (file !== undefined) shiftClock(file);

/** Preloaded into a host. At each SIGUSR2, shifts the wall clock by the milliseconds in the file. */
function shiftClock(file: string): void {
  const readClock = Date.now.bind(Date);
  let shiftMs = 0;
  const now = () => readClock() + shiftMs;
  globalThis.Date = new Proxy(Date, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as object,
    get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
  });
  process.on('SIGUSR2', () => {
    shiftMs = Number(readFileSync(file, 'utf8'));
    writeFileSync(`${file}.done`, String(shiftMs));
  });
}
