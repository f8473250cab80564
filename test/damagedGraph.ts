import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';

/** Overwrites a compiled graph as if that had happened before its checksum was taken: the runtime alone can find it. */
export function damageGraph(graphFile: string): void {
  const damaged = Buffer.alloc(statSync(graphFile).size, 0xff);
  writeFileSync(graphFile, damaged);
  const manifestFile = join(dirname(graphFile), 'manifest.json');
  const manifest = JSON.parse(readFileSync(manifestFile, 'utf8'));
  manifest.graph.checksum = crc32(damaged);
  writeFileSync(manifestFile, JSON.stringify(manifest));
}
