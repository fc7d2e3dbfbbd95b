package page

// HelpWidth is how wide help is written.
const HelpWidth = 88
