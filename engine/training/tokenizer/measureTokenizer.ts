/**
 * Prints characters a token by language on the held-out packages.
 * Run: node --import tsx engine/training/tokenizer/measureTokenizer.ts TOKENIZER.json...
 */
import { readDocuments } from '../corpus/readDocuments.ts';
import { BpeEncoder } from './bpeEncoder.ts';

const encoders = process.argv.slice(2).map((path) => BpeEncoder.fromFile(path));
const rows = new Map<string, { characters: number; tokens: number[] }>();
for await (const { language, text } of readDocuments('heldOut')) {
  const row = rows.get(language) ?? { characters: 0, tokens: encoders.map(() => 0) };
  rows.set(language, row);
  row.characters += text.length;
  encoders.forEach((encoder, index) => {
    row.tokens[index]! += encoder.encode(text).length;
  });
}
for (const [language, { characters, tokens }] of [...rows].sort()) {
  console.log(
    language.padEnd(12),
    `${characters}`.padStart(9),
    ...tokens.map((count) => (characters / count).toFixed(3)),
  );
}
