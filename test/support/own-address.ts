import { networkInterfaces } from 'node:os';

/** An address of this machine that other machines could use. Skips the test where there is none. */
export function requireOwnAddress(context: Mocha.Context): string {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const own = addresses.find(({ family, internal }) => family === 'IPv4' && !internal);
  if (own !== undefined) return own.address;
  console.log('      skipped: needs an address other than loopback');
  return context.skip();
}
