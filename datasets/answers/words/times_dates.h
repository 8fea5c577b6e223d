// Times of day and dates, each in one spelling.
//
//   TimeOfDay("4 p.m.")      // "16:00", as "4:00 PM" and "16:00"
//   DateOf("Dec. 25, 2020")  // "december 25 2020", as "2020-12-25"
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_WORDS_TIMES_DATES_H_
#define ESPALIER_DATASETS_ANSWERS_WORDS_TIMES_DATES_H_

#include <string>
#include <string_view>

namespace espalier {

// Empty for any other text. "4:00", which may be a.m. or p.m., is "4:00
// o'clock"; other "a:b" are ratios.
std::string TimeOfDay(std::string_view text);
// A month and a day, perhaps a year.
std::string DateOf(std::string_view text);

// In what order a date in digits gives its day and its month.
enum class DateOrder { kMonthFirst, kDayFirst };

// `text` with its dates of a day, a month and a year as "May 14, 1987". Those
// in digits that leave their order open ("03/04/2020") are read in `order`,
// and `open` is set.
std::string WithDatesInWords(std::string_view text, DateOrder order,
                             bool* open);

// Whether a text is one such date and nothing else.
bool IsWholeDate(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_WORDS_TIMES_DATES_H_
