// Writes the bill of materials of the production dependencies: CycloneDX JSON, made from the lock file,
// into dist/ or the given file. Leaves out machine and registry names and everything that changes per run.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const file = process.argv[2] ?? 'dist/sbom.cdx.json';
const { name, version, packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const inProduction = new Set(
  Object.entries(packages)
    .filter(([path, { dev }]) => path !== '' && !dev)
    .map(([path, locked]) => `${path.split('node_modules/').at(-1)}@${locked.version}`),
);

// Not `--omit dev`: npm 11.19 then also omits packages that a development dependency shares, such as koa.
const listed = spawnSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
});
if (listed.status !== 0) {
  console.error(`npm sbom failed: ${listed.stderr}`);
  process.exit(1);
}

const { serialNumber, ...bom } = JSON.parse(listed.stdout);
delete bom.metadata.timestamp;
// npm uses the name of the folder.
bom.metadata.component = { ...stripComponent(bom.metadata.component), name };
bom.components = bom.components
  .filter((component) => inProduction.has(`${component.name}@${component.version}`))
  .map(stripComponent);
const kept = new Set([bom.metadata.component, ...bom.components].map((one) => one['bom-ref']));
bom.dependencies = bom.dependencies
  .filter(({ ref }) => kept.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => kept.has(one)) }));

mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, `${JSON.stringify(bom, null, 2)}\n`);
console.log(`${file}: ${bom.components.length} components of ${name} ${version}`);

function stripComponent({ properties, externalReferences = [], ...component }) {
  const references = externalReferences.filter(({ type }) => type !== 'distribution');
  return {
    ...component,
    ...(references.length > 0 && { externalReferences: references }),
  };
}
