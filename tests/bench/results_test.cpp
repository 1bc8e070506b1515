#include "bench/results/results.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "nearfar/core/error.hpp"

namespace nearfar::bench {
namespace {

class results : public testing::Test {
 public:
  results() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / (std::string("nearfar_results_") + test->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~results() override { std::filesystem::remove_all(folder_); }

 protected:
  static constexpr older_output replaced{.is_replaced = true};

  static std::string content(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  std::filesystem::path folder_;
};

TEST_F(results, a_file_appears_when_it_is_complete) {
  const auto path = folder_ / "new.jsonl";
  {
    results_file file(path);
    file.write({{"schema", results_schema}});
    EXPECT_FALSE(std::filesystem::exists(path));
    file.commit();
  }
  EXPECT_EQ(content(path), "{\"schema\":\"nearfar.results/1\"}\n");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1)
      << "the temporary file is left";
}

TEST_F(results, an_abandoned_file_leaves_the_old_one) {
  const auto path = folder_ / "old.jsonl";
  const std::string old = "{\"schema\":\"nearfar.results/1\",\"old\":true}\n";
  std::ofstream(path) << old;
  {
    results_file file(path, results_schema, replaced);
    file.write({{"schema", results_schema}});
  }
  EXPECT_EQ(content(path), old);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1)
      << "the temporary file is left";
}

TEST_F(results, older_results_are_replaced_on_request_only) {
  const auto path = folder_ / "old.jsonl";
  const std::string old = "{\"schema\":\"nearfar.results/1\",\"old\":true}\n";
  std::ofstream(path) << old;
  EXPECT_THROW(results_file file(path), error);
  EXPECT_EQ(content(path), old);
  results_file file(path, results_schema, replaced);
  file.commit();
  EXPECT_EQ(content(path), "");
  EXPECT_NO_THROW(results_file next(path)) << "an empty file holds nothing to be lost";
}

TEST_F(results, the_schema_of_what_a_record_holds_does_not_count) {
  const auto path = folder_ / "old.jsonl";
  for (const char* old : {R"({"schema":"nearfar.results/1","machine":{"schema":"nearfar.machine/1"}})",
                          R"({"machine":{"schema":"nearfar.machine/1"},"schema":"nearfar.results/1"})",
                          R"([{"schema":"nearfar.machine/1"}])", R"({"name":"\"nearfar.machine/1"})"}) {
    std::ofstream(path) << old << '\n';
    EXPECT_THROW(output_file file(path, "\"nearfar.machine/", "machine", replaced), error) << old;
  }
  for (const char* old :
       {R"({"schema": "nearfar.machine/1",)", R"({"name": "x", "schema":"nearfar.machine/2"})"}) {
    std::ofstream(path) << old << '\n';
    EXPECT_NO_THROW(output_file file(path, "\"nearfar.machine/", "machine", replaced)) << old;
  }
}

TEST_F(results, older_output_is_followed_on_request) {
  const auto path = folder_ / "old.jsonl";
  std::ofstream(path) << "a first line\na line without an end";
  output_file file(path, "first", "lines", {.is_extended = true});
  file.write("more\n");
  EXPECT_EQ(content(path), "a first line\na line without an end");
  file.commit();
  EXPECT_EQ(content(path), "a first line\na line without an end\nmore\n");
}

TEST_F(results, what_is_kept_beside_an_older_file_has_a_name_of_its_own) {
  const auto path = folder_ / "old.jsonl";
  std::ofstream(path) << "{\"schema\":\"nearfar.results/1\"}\n";
  for (const char* name : {"old.jsonl.interrupted", "old.jsonl.interrupted-2"}) {
    results_file file(path, results_schema, replaced);
    file.write({{"schema", results_schema}, {"name", name}});
    EXPECT_EQ(file.keep(), (folder_ / name).string());
    EXPECT_NE(content(folder_ / name).find(name), std::string::npos);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 3);
}

TEST_F(results, other_files_are_not_overwritten) {
  const auto path = folder_ / "thesis.tex";
  std::ofstream(path) << "\\documentclass{article}\n";
  EXPECT_THROW(results_file file(path), error);
  EXPECT_EQ(content(path), "\\documentclass{article}\n");
}

TEST_F(results, have_one_writer) {
  const auto path = folder_ / "shared.jsonl";
  {
    results_file first(path);
    first.write({{"schema", results_schema}, {"writer", 1}});
    EXPECT_THROW(results_file second(path), error);
    const results_file another(folder_ / "shared");
    first.commit();
  }
  EXPECT_NE(content(path).find("\"writer\":1"), std::string::npos);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
  EXPECT_NO_THROW(results_file next(path, results_schema, replaced));
}

// A process of another node may have this one's number, so its file would have this one's name.
TEST_F(results, leave_what_a_process_of_this_number_has_left) {
  const auto path = folder_ / "shared.jsonl";
  const std::string left = output_file::partial_name(path.string(), std::to_string(getpid()));
  std::ofstream(left) << "mine\n";
  results_file file(path);
  file.commit();
  EXPECT_EQ(content(left), "mine\n");
  EXPECT_EQ(content(path), "");
}

TEST_F(results, unwritable_places_are_errors) {
  EXPECT_THROW(results_file file(folder_), error);
  EXPECT_THROW(results_file file(folder_ / "missing" / "x.jsonl"), error);
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), S_IRUSR | S_IWUSR), 0);
  EXPECT_THROW(results_file file(folder_ / "pipe"), error);
}

// The file stays, although a user who may write to the folder could replace it. If the test runs as root,
// only another user can show that.
TEST_F(results, write_protected_files_stay) {
  const auto path = folder_ / "protected.jsonl";
  std::ofstream(path) << "{\"schema\":\"nearfar.results/1\"}\n";
  using enum std::filesystem::perms;
  std::filesystem::permissions(path, owner_read | group_read | others_read);
  std::filesystem::permissions(folder_, all);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    constexpr uid_t nobody = 65534;
    if (getuid() == 0 && setuid(nobody) != 0) _exit(2);
    try {
      const results_file file(path, results_schema, replaced);
    } catch (const error&) {
      _exit(0);
    }
    _exit(1);
  }
  int ended = 0;
  ASSERT_EQ(waitpid(child, &ended, 0), child);
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(results, leave_nothing_where_files_are_too_many) {
  const auto path = folder_ / "new.jsonl";  // AddressSanitizer opens files to look at `this`
  const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(next, 0);
  close(next);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit one_more = before;
  one_more.rlim_cur = static_cast<rlim_t>(next) + 1;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &one_more), 0);
  EXPECT_THROW(results_file file(path), error);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(results, a_full_disk_is_an_error) {
  results_file file("/dev/full");
  EXPECT_THROW(file.write({{"schema", results_schema}}), lost_file);
}

TEST_F(results, a_sample_has_the_promised_fields) {
  sample of;
  of.benchmark = "ecsb";
  of.object = "cohort";
  of.world = "mpi";
  of.duration = std::chrono::nanoseconds(900);
  of.iterations = 9;
  of.iterations_per_rank = {4, 5};
  of.ranks = 2;
  of.verified = true;
  nlohmann::ordered_json record = of;
  for (const char* field :
       {"schema", "benchmark", "lock", "parameters", "world", "machine", "nodes", "ranks", "repetition",
        "axes", "effort", "measured", "duration_ns", "iterations", "iterations_per_rank", "verified"})
    EXPECT_TRUE(record.contains(field)) << field;
  EXPECT_EQ(record["ns_per_acquisition"], 100.0);
  EXPECT_FALSE(record.contains("scenario"));
  of.scenario = "2b";
  of.counts = {{"contended", 3}, {"local_handovers", nullptr}};
  record = of;
  EXPECT_EQ(record["scenario"], "2b");
  EXPECT_EQ(record["contended"], 3);
  EXPECT_TRUE(record["local_handovers"].is_null());
}

TEST_F(results, a_sample_survives_its_record) {
  sample of;
  of.benchmark = "upb";
  of.object = "mcs";
  of.parameters = {{"max_local_passes", 4}};
  of.axes = {{"share", 0.5}};
  of.effort = {{"duration", 1.0}};
  of.world = "threads";
  of.machine = "here";
  of.nodes = 2;
  of.ranks = 3;
  of.repetition = 4;
  of.duration = std::chrono::nanoseconds(900);
  of.iterations = 9;
  of.iterations_per_rank = {4, 3, 2};
  of.in_first_half = 5;
  of.counts = {{"contended", 3}};
  of.measured = {{"time", 100.0}};
  of.scenario = "2b";
  of.sound = false;
  of.verified = true;
  const nlohmann::ordered_json record = of;
  EXPECT_EQ(nlohmann::ordered_json(sample_of(record)), record);
  EXPECT_EQ(sample_of(record).count("contended"), 3);
  EXPECT_EQ(sample_of(record).drift(), of.drift());
  nlohmann::ordered_json broken = record;
  broken.erase("duration_ns");
  EXPECT_THROW((void)sample_of(broken), error);
}

}  // namespace
}  // namespace nearfar::bench
