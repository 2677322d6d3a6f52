// Compare like the server (dashboard/folding.py): ignore case and accents, treat all blanks alike.
// A letter may fold to several and an accent to none, so each stores its position in the text.
export function fold(text) {
  if (/^[\0-\x7f]*$/.test(text)) {
    const folded = text.toLowerCase().replace(/\s/g, " ");
    return { text: folded, start: (place) => place, end: (place) => place + 1 };
  }
  const starts = [];
  let folded = "";
  let start = 0;
  for (const letter of text) {
    const plain = foldLetter(letter);
    for (let each = 0; each < plain.length; each += 1) starts.push(start);
    folded += plain;
    start += letter.length;
  }
  const end = (place) => {
    let next = place + 1;
    while (starts[next] === starts[place]) next += 1;
    return starts[next] ?? text.length;
  };
  return { text: folded, start: (place) => starts[place], end };
}

const BASE_LETTERS = { æ: "ae", œ: "oe", ø: "o", đ: "d", ð: "d", ħ: "h", ł: "l", þ: "th" };

function foldLetter(letter) {
  if (letter < "\x80") return letter.toLowerCase().replace(/\s/, " ");
  const plain = letter.normalize("NFKD").toUpperCase().toLowerCase().normalize("NFKD");
  return plain.replace(/\p{Mn}|\s|[æœøđðħłþ]/gu, (each) => {
    return BASE_LETTERS[each] ?? (/\s/.test(each) ? " " : "");
  });
}
