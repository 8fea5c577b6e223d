// How long a server asks to wait, from two header fields of its reply.
//
//   reply.retry_after = RetryAfterSeconds("120", "");
//   // The time is the server's own: this machine's clock may be wrong.
//   reply.retry_after = RetryAfterSeconds("Sun, 06 Nov 1994 08:51:37 GMT",
//                                         "Sun, 06 Nov 1994 08:49:37 GMT");
//
// RFC 9110, sections 5.6.7 and 10.2.3. Of the three forms of a date only the
// one that servers must send is read (IMF-fixdate, as above).
//
// Stateless function: thread-safe.
#ifndef ESPALIER_MODELS_REMOTE_RETRY_AFTER_H_
#define ESPALIER_MODELS_REMOTE_RETRY_AFTER_H_

#include <string_view>

namespace espalier {

// `retry_after`: the field's value, seconds or a date; `date`: that of Date, ""
// if there is none. A date that has passed gives 0. -1: nothing that can be
// read, or a date without a Date beside it.
double RetryAfterSeconds(std::string_view retry_after, std::string_view date);

}  // namespace espalier

#endif  // ESPALIER_MODELS_REMOTE_RETRY_AFTER_H_
