#include <cstdint>

#include "berryeval/trec_text.hpp"
#include "berryeval/words.hpp"

namespace berryeval {
namespace {

// The number of bytes of the character at `at`; 0 if it is invalid (an overlong form, a surrogate,
// beyond Unicode, or NUL).
std::size_t character_size(const unsigned char* at, std::size_t left) {
  const unsigned char lead = at[0];
  if (lead < 0x80) return lead == 0 ? 0 : 1;
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || left < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((at[i] & 0xC0) != 0x80) return 0;
  }
  const unsigned char next = at[1];
  if ((lead == 0xE0 && next < 0xA0) || (lead == 0xED && next >= 0xA0)) return 0;
  if ((lead == 0xF0 && next < 0x90) || (lead == 0xF4 && next >= 0x90)) return 0;
  return size;
}

}  // namespace

bool is_plain(std::string_view text) {
  std::uint64_t seen = 0;
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) seen |= load_word(text.data() + at);
  for (; at < text.size(); ++at) seen |= static_cast<unsigned char>(text[at]);
  return (seen & kTopBits) == 0 && text.find('\0') == std::string_view::npos;
}

bool is_text(std::string_view text) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  for (std::size_t at = 0; at < text.size();) {
    if (at + 8 <= text.size()) {
      const std::uint64_t word = load_word(text.data() + at);
      if (((word | bytes_equal(word, '\0')) & kTopBits) == 0) {  // eight ASCII bytes
        at += 8;
        continue;
      }
    }
    const std::size_t size = character_size(bytes + at, text.size() - at);
    if (size == 0) return false;
    at += size;
  }
  return true;
}

}  // namespace berryeval
