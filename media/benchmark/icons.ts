import { html, type TemplateResult } from 'lit-html';

/** 16 x 16, in the colour of the text. */
const icon = (path: string): TemplateResult => html`
  <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d=${path} /></svg>
`;

export const icons = {
  first: icon('M3 3h1.5v10H3zM13 3v10L5.5 8z'),
  previous: icon('M11 3v10L4 8z'),
  play: icon('M4 3v10l9-5z'),
  pause: icon('M4 3h3v10H4zM9 3h3v10H9z'),
  next: icon('M5 3v10l7-5z'),
  last: icon('M11.5 3H13v10h-1.5zM3 3v10l7.5-5z'),
  error: icon('M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1zm.8 10.5H7.2V10h1.6zm0-2.7H7.2V4.5h1.6z'),
} as const;
