/** How the search of the site reads a question. The functions are sent to the browser as text: they use nothing around them. */
import type { DefaultTheme } from 'vitepress';

export const searchOptions: DefaultTheme.LocalSearchOptions = {
  detailedView: 'auto',
  miniSearch: {
    options: {
      /** Words that every question has say nothing about what is asked. A plural is found as its singular. */
      processTerm: (term) => {
        const word = term.toLowerCase();
        const isFiller =
          /^(?:a|an|and|are|by|can|do|does|for|from|how|i|in|is|it|my|of|on|or|the|to|what|when|where|which|why|with|without)$/;
        if (isFiller.test(word)) return null;
        return word.length > 4 ? word.replace(/ies$/, 'y').replace(/([^s])s$/, '$1') : word;
      },
    },
    searchOptions: {
      prefix: true,
      fuzzy: (term) => (term.length > 5 ? 0.2 : false),
      boost: { title: 6, titles: 2, text: 1 },
      /** A question is answered by the guide; the API, generated tables and decisions only mention the words. */
      boostDocument: (id: string) => {
        if (/\/(guide|tutorial)\//.test(id)) return 2;
        if (/\/reference\/api\//.test(id)) return 0.5;
        return /\/(decisions|machines)\/|\/(benchmarks|changelog)\./.test(id) ? 0.3 : 1;
      },
    },
  },
};
