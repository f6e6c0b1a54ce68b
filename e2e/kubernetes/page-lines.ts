/** Lines of a page or of a program without what differs from run to run: addresses, ports, ages, ids, and names of pods. */
export const withoutFigures = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) =>
      line
        .replaceAll(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'ID')
        .replaceAll(/\b([a-z]+(?:-[a-z]+)*)-[0-9a-z]{7,10}-[0-9a-z]{5}\b/g, '$1-POD')
        .replaceAll(/\b(agent)-[0-9a-z]{5}\b/g, '$1-POD')
        .replaceAll(/\b(?:198\.51\.100|10\.96|10\.244\.\d+)\.\d+(?:\.\d+)?\b/g, 'ADDRESS')
        .replaceAll(/:\d{5}\/TCP/g, ':PORT/TCP')
        .replaceAll(/\bnode[12]\b/g, 'nodeN')
        .replaceAll(/\bShard \d+\b/g, 'Shard N')
        .replaceAll(/(?<=\bRunning +)\d+(?: \(\S+ ago\))?/g, 'RESTARTS')
        .replaceAll(/(?<=\s)(?:\d+[dhms])+$/g, 'AGE')
        .replaceAll(/ +/g, ' ')
        .trim(),
    )
    .filter((line) => line !== '')

/** The lines of a page up to a line with an ellipsis alone, where the page leaves something out. */
export const untilEllipsis = (lines: readonly string[]): readonly string[] =>
  lines.includes('…') ? lines.slice(0, lines.indexOf('…')) : lines
