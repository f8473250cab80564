import { randomBytes } from 'node:crypto';

export interface PanelAssets {
  readonly script: string;
  readonly styles: string;
  /** Where styles may come from, as a content security policy names it. */
  readonly source: string;
}

/** The panel's page. Its script draws everything; nothing is loaded but the two files. */
export function panelHtml({ script, styles, source }: PanelAssets): string {
  const nonce = randomBytes(16).toString('base64url');
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src ${source}`;
  return `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="${policy}">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="stylesheet" href="${styles}">
    <title>Slipstream Benchmark</title>
  </head>
  <body>
    <main id="benchmark"></main>
    <script nonce="${nonce}" src="${script}"></script>
  </body>
</html>
`;
}
