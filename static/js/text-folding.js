// Compare like the server (dashboard/texts.py): ignore case and accents, treat all blanks alike.
// A letter may fold to several letters, and an accent to none. So each folded letter stores its position.
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
    for (let place = 0; place < plain.length; place += 1) starts.push(start);
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
  return plain.replace(/\p{Mn}|\s|[æœøđðħłþ]/gu, (character) => {
    return BASE_LETTERS[character] ?? (/\s/.test(character) ? " " : "");
  });
}
