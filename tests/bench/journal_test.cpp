#include "bench/results/journal.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "nearfar/core/error.hpp"

namespace nearfar::bench {
namespace {

using record = nlohmann::ordered_json;

class journals : public ::testing::Test {
 public:
  journals() { std::filesystem::create_directory(folder_); }
  journals(const journals&) = delete;
  journals& operator=(const journals&) = delete;
  ~journals() override { std::filesystem::remove_all(folder_); }

 protected:
  [[nodiscard]] std::string content() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(const std::string& text) const { std::ofstream(path_) << text; }
  /// Writes a journal of an earlier run, with these numbers.
  void write(std::initializer_list<int> numbers) const {
    journal file(path_, header_);
    for (const int number : numbers)
      file.append(std::array{record{{"record", "sample"}, {"number", number}}});
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("nearfar-journals-" + std::to_string(getpid()));
  std::filesystem::path path_ = folder_ / "journal.jsonl";
  record header_{{"schema", "test/1"}, {"record", "provenance"}, {"study", {{"world", "threads"}}}};
};

TEST_F(journals, keep_what_was_written) {
  write({1, 2});
  const journal again(path_, header_);
  EXPECT_FALSE(again.is_new());
  EXPECT_FALSE(again.was_torn());
  ASSERT_EQ(again.found().size(), 2U);
  EXPECT_EQ(again.found()[1]["number"], 2);
}

TEST_F(journals, cut_off_at_any_byte_lose_that_record_only) {
  write({1, 2, 3});
  const std::string whole = content();
  const std::size_t header_end = whole.find('\n') + 1;
  for (std::size_t length = header_end; length < whole.size(); ++length) {
    put(whole.substr(0, length));
    const std::string kept = whole.substr(0, whole.rfind('\n', length - 1) + 1);
    {
      journal again(path_, header_);
      EXPECT_EQ(again.was_torn(), kept.size() != length);
      EXPECT_EQ(content(), kept) << length;
      again.append(std::array{record{{"record", "sample"}, {"number", 9}}});
    }
    EXPECT_EQ(content(), kept + "{\"record\":\"sample\",\"number\":9}\n");
  }
}

TEST_F(journals, whose_header_was_cut_off_begin_anew) {
  write({1});
  const std::string whole = content();
  for (const std::size_t length : {std::size_t{1}, std::size_t{20}, whole.find('\n')}) {
    put(whole.substr(0, length));
    const journal again(path_, header_);
    EXPECT_TRUE(again.is_new());
    EXPECT_EQ(content(), header_.dump() + "\n");
  }
}

TEST_F(journals, notice_that_the_file_went_away) {
  journal file(path_, header_);
  std::filesystem::remove(path_);
  EXPECT_THROW(file.append(std::array{record{{"record", "sample"}}}), error);
  journal another(path_, header_);
  put("");
  EXPECT_THROW(another.append(std::array{record{{"record", "sample"}}}), error);
}

TEST_F(journals, can_forget_the_last_records) {
  write({1, 2, 3});
  {
    journal again(path_, header_);
    again.drop_last(2);
    EXPECT_EQ(again.found().size(), 1U);
    again.append(std::array{record{{"record", "sample"}, {"number", 4}}});
  }
  const journal last(path_, header_);
  ASSERT_EQ(last.found().size(), 2U);
  EXPECT_EQ(last.found()[1]["number"], 4);
}

TEST_F(journals, leave_other_files_as_they_are) {
  record other = header_;
  other["study"] = "another";
  for (const std::string& text :
       {std::string("mine\n"), std::string("mine"), std::string("{}\n"), std::string("{}\n{\"b\":2}"),
        other.dump() + "\n", other.dump() + "\n{\"x\":1}", "x" + header_.dump()}) {
    put(text);
    EXPECT_THROW(journal(path_, header_), error) << text;
    EXPECT_EQ(content(), text);
  }
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_THROW(journal(path_, header_), error);
}

TEST_F(journals, belong_to_one_process) {
  const journal first(path_, header_);
  EXPECT_THROW(journal(path_, header_), error);
}

TEST_F(journals, full_disks_are_errors) { EXPECT_THROW(journal("/dev/full", header_), error); }

}  // namespace
}  // namespace nearfar::bench
