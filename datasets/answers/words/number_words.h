// Numbers and ranges written in English words.
//
//   NumberInWords("twenty one")       // "21"
//   NumberInWords("three quarters")   // "3/4"
//   NumberInWords("2.5 million")      // "2.5*1000000"
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_WORDS_NUMBER_WORDS_H_
#define ESPALIER_DATASETS_ANSWERS_WORDS_NUMBER_WORDS_H_

#include <string>
#include <string_view>

namespace espalier {

// `folded` comes from FoldWords. The number in digits, as ParseMath reads it;
// empty if the words are not a number below 10^15, or if there is anything
// besides one.
std::string NumberInWords(std::string_view folded);

// "third" and "3rd" as "place 3"; else empty.
std::string PlaceInWords(std::string_view folded);

// "a quarter" as "1/4"; empty for anything else. `text` is not folded.
std::string OnePart(std::string_view text);

// The only number word of a sentence, in digits: "there are seven such sets".
// "one" does not count, as it may not be a number.
std::string NumberWordIn(std::string_view folded);

// Replaces number words by digits, except a lone "one": "takes 5 days", "2/3 of
// it".
std::string WithDigits(std::string_view text);

// "two thirds of the class" as "2/3 of the class", "half an hour" as "1/2
// hour"; empty if the text does not begin with a part in words, or names other
// numbers behind it.
std::string WithPartInDigits(std::string_view text);

// "One half, or 50%" as "1/2, or 50%"; empty if the text is nothing like it.
std::string WithFirstInDigits(std::string_view text);

// A formula in words, "4 times the square root of 2" without its articles, as
// "4\\cdot \\sqrt{2}"; empty if it is none. And "x is 2 and y is -1" as "x=2,
// y=-1".
std::string FormulaInWords(std::string_view folded);
std::string ValuesInWords(std::string_view folded);

// "all real numbers greater than or equal to 2" as "x \\ge 2"; else empty.
std::string RangeInWords(std::string_view folded);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_WORDS_NUMBER_WORDS_H_
