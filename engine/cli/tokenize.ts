import { loadTokenizer } from '../model/tokenizer.ts';
import type { Command } from './command.ts';
import { readTextFile } from './files.ts';
import { modelOptions, requiredModelDir } from './modelOption.ts';
import { printJson, printText } from './output.ts';

export const tokenizeCommand: Command = {
  name: 'tokenize',
  summary: "Show a text file as a model's tokens, and the text that they decode to.",
  synopsis: '--model DIR --text-file FILE [--json]',
  options: {
    ...modelOptions,
    'text-file': { value: 'FILE', help: 'The text, UTF-8.' },
    json: { help: 'Print {"token_ids": [...], "text": "..."}.' },
  },
  async run(line) {
    const modelDir = await requiredModelDir(line);
    const text = await readTextFile(line.requiredText('text-file'));
    const tokenizer = await loadTokenizer(modelDir);
    const tokenIds = [...tokenizer.encode(text)];
    if (line.flag('json')) printJson({ token_ids: tokenIds, text: tokenizer.decode(tokenIds) });
    else printText(tokenIds.join(','));
  },
};
